# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Reductions, shapes and views of variables, against arrays."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from python.graph.variable_checks import T, check, like
from support.arrays import numbers, pair, windows

import spanwise as sw

#: Dtypes in which the numbers of pair() are exact, as are their sums in the dtype of sum().
EXACT_DTYPES = ("int8", "int32", "int64", "uint8", "float32", "float64", "complex128")


REDUCTIONS = ("sum", "prod", "min", "max", "mean", "var", "std", "any", "all")


AXES = (None, 0, 1, -1, (0, 2), (2, 0, 1), ())


@pytest.mark.parametrize("axis", AXES, ids=str)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_of_variables_match_numpy(device, name, axis):
    x = np.random.default_rng(1).integers(-3, 4, (2, 3, 4)).astype("float64")
    for keepdims in (False, True):
        check(
            lambda a: getattr(a, name)(axis=axis, keepdims=keepdims),  # noqa: B023
            x,
            device=device,
            exact=name not in ("var", "std"),
        )


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_of_other_dtypes_match_numpy(device, name):
    for dtype in ("int8", "uint16", "bool", "float32"):
        check(
            lambda a: getattr(a, name)(axis=0),
            numbers((5, 3), dtype, 2),
            device=device,
            exact=False,
        )


@pytest.mark.parametrize("name", ["argmin", "argmax", "cumsum", "cumprod"])
@pytest.mark.parametrize("axis", [None, 0, -1])
def test_argmin_argmax_and_scans_match_numpy(device, name, axis):
    x = np.random.default_rng(3).integers(-3, 4, (4, 5))
    check(lambda a: getattr(a, name)(axis=axis), x, device=device)


def test_reduction_ops_show_and_compare_their_properties():
    x = T.ftensor3()
    total = x.sum(axis=(0, -1), keepdims=True, dtype="float64")
    assert str(total.owner.op) == "Sum{axis=(0, 2), keepdims=True, dtype=float64}"
    assert total.type == sw.TensorType("float64", (1, None, 1))
    assert (
        x.sum().owner.op
        == T.sum(x).owner.op
        == np.sum(x).owner.op
        == x.sum(axis=(2, 1, 0)).owner.op
    )
    assert x.sum(0).owner.op != x.sum(1).owner.op != x.mean(1).owner.op
    assert str(x.var(ddof=1).owner.op) == "Var{correction=1}"
    assert str(x.cumsum(1).owner.op) == "Cumsum{axis=(1,)}"
    assert x.argmax(0).dtype == "int64" and T.count_nonzero(x).dtype == "int64"


def test_invalid_reductions_raise_when_the_graph_is_built(device):
    x = T.fmatrix("x")
    with pytest.raises(IndexError, match=r"axis 2 of x of TensorType\(float32, matrix\).*-2 to 1"):
        x.sum(axis=2)
    with pytest.raises(IndexError, match="axis -3 of x"):
        x.cumsum(-3)
    with pytest.raises(ValueError, match="duplicate"):
        x.max(axis=(0, 0))
    with pytest.raises(sw.GraphError, match="out="):
        x.sum(out=sw.zeros(()))
    with pytest.raises(sw.GraphError, match="where="):
        T.sum(x, where=np.ones((2, 2), bool))
    f = sw.function([x], x.max(axis=0), device=device, name="f")
    with pytest.raises(ValueError, match="zero-size") as caught:
        f(np.zeros((0, 3), "float32"))
    assert "Max{axis=(0,)}" in "".join(getattr(caught.value, "__notes__", [str(caught.value)]))


SHAPES = {
    "reshape": lambda a: a.reshape(4, 6),
    "reshape to fit": lambda a: a.reshape((6, -1)),
    "T": lambda a: a.T,
    "mT": lambda a: a.mT,
    "transpose": lambda a: a.transpose(2, 0, 1),
    "transpose of one tuple": lambda a: a.transpose((1, -1, 0)),
    "swapaxes": lambda a: a.swapaxes(0, -1),
    "ravel": lambda a: a.ravel(),
    "moveaxis": lambda a: sw.moveaxis(a, 0, -1),
    "expand_dims": lambda a: sw.expand_dims(a, (0, 2)),
    "flip": lambda a: sw.flip(a, 1),
    "rot90": lambda a: sw.rot90(a),
    "atleast": lambda a: sw.atleast_3d(a[0]),
    "squeeze": lambda a: a[:1].squeeze(0),
    "broadcast_to": lambda a: sw.broadcast_to(a, (5, 2, 3, 4)),
    "cast": lambda a: a.astype("int16"),
    "take": lambda a: a.take([2, 0, 0], axis=1),
    "take flat": lambda a: sw.take(a, np.array([[5], [-1]])),
}


@pytest.mark.parametrize("name", SHAPES)
def test_shape_functions_of_variables_match_arrays(device, name):
    """The expected values are those of eager arrays, which other tests compare with NumPy."""
    x = np.random.default_rng(4).standard_normal((2, 3, 4))
    a, function = like(x), SHAPES[name]
    f = sw.function([a], [function(a), function(a + 1)], device=device)
    for source in (x, x[::-1, ::-1], np.asfortranarray(x)):
        for ours, values in zip(f(source), (source, source + 1), strict=True):
            theirs = function(sw.array(values, device=device)).numpy()
            assert ours.shape == theirs.shape and ours.dtype == theirs.dtype
            np.testing.assert_array_equal(ours.numpy(), theirs)


def test_dimshuffle_permutes_inserts_and_drops_axes(device):
    x = np.random.default_rng(5).standard_normal((2, 3))
    check(lambda a: a.dimshuffle(1, "x", 0), x, device=device, oracle=lambda v: v.T[:, None])
    a = T.fmatrix()
    assert a.dimshuffle(0, 1) is a and a.dimshuffle([1, 0]).owner.op == a.T.owner.op
    assert str(a.dimshuffle("x", 1, 0).owner.op) == "DimShuffle{x,1,0}"
    assert a.dimshuffle("x", 1, 0).type.shape == (1, None, None)
    assert T.fcol().squeeze().ndim == 1
    with pytest.raises(ValueError, match="cannot be dropped"):
        T.tensor("float32", (3, 4)).dimshuffle(0)
    with pytest.raises(ValueError, match="is repeated in the order"):
        a.dimshuffle(0, 0)
    with pytest.raises(IndexError, match="axis 2"):
        a.dimshuffle(2, 0)
    f = sw.function([a], a.dimshuffle(0), device=device)
    assert f(np.ones((3, 1), "float32")).shape == (3,)
    with pytest.raises(ValueError, match="extent of 1"):
        f(np.ones((3, 2), "float32"))


def test_computed_extents_are_accepted_as_shapes(device):
    x = np.arange(24.0).reshape(2, 3, 4)
    check(lambda a: a.reshape(a.shape[0], -1), x, device=device, oracle=lambda v: v.reshape(2, -1))
    check(lambda a: a.T.reshape(a.T.shape), x, device=device, oracle=lambda v: v.T)
    check(lambda a: a.flatten(2), x, device=device, oracle=lambda v: v.reshape(2, -1))
    check(lambda a: a[0].broadcast_to(a.shape), x, device=device,
          oracle=lambda v: np.broadcast_to(v[0], v.shape))  # fmt: skip
    check(lambda a: a.sum() / a.size, x, device=device, oracle=lambda v: v.mean())
    v, n = T.lvector("v"), T.lscalar("n")
    a = T.dtensor3("a")
    f = sw.function([a, v, n], [a.reshape(v, ndim=2), a.reshape((n, -1))], device=device)
    for ours in f(x, [6, 4], 6):
        np.testing.assert_array_equal(ours.numpy(), x.reshape(6, 4))
    with pytest.raises(sw.GraphError, match="ndim=2"):
        a.reshape(v)
    with pytest.raises(ValueError, match="24 elements do not fill"):
        f(x, [5, 5], 6)
    with pytest.raises(TypeError, match="integer"):
        a.reshape(T.fscalar(), 3)


def test_known_extents_are_constants_and_pass_through_ops():
    a = T.tensor("float32", (2, None, 3))
    assert isinstance(a.shape[0], sw.Constant) and int(a.shape[-1].data) == 3
    assert a.shape[1].owner is not None
    assert a.reshape(-1, 3).type.shape == (None, 3)
    assert a.reshape(a.shape[0], -1).type.shape == (2, None)
    b = T.tensor("float32", (2, 4, 3))
    assert isinstance(b.shape, sw.Constant) and b.shape.data.tolist() == [2, 4, 3]
    assert b.reshape(-1, 6).type.shape == (4, 6)
    assert b[1:, ::2, None, -1].type.shape == (1, 2, 1)
    assert b[[0, 1, 1]].type.shape == (3, 4, 3)
    assert b.sum(0).type.shape == (4, 3) and b.T.type.shape == (3, 4, 2)
    with pytest.raises(ValueError, match="reshape"):
        b.reshape(5, 5)
    with pytest.raises(IndexError, match="extent 2"):
        b[2]


@given(window=windows(), seed=st.integers(0, 2**32), data=st.data())
def test_views_of_variables_match_numpy_in_any_layout(device, window, seed, data):
    ours, theirs = pair(window, "float32", device, seed)
    key = tuple(
        data.draw(st.one_of(st.slices(n), st.integers(-n, n - 1)) if n else st.slices(n))
        for n in theirs.shape[: data.draw(st.integers(0, theirs.ndim))]
    )
    a = like(theirs)
    f = sw.function([a], [a[key], a.T, a.sum(), a.reshape(-1), a[key] + 1], device=device)
    expected = [
        theirs[key],
        theirs.T,
        theirs.sum(dtype="float64"),
        theirs.reshape(-1),
        theirs[key] + 1,
    ]
    for result, oracle in zip(f(ours), expected, strict=True):
        np.testing.assert_allclose(result.numpy(), oracle, rtol=1e-6)
        assert result.shape == oracle.shape


@given(window=windows(), dtype=st.sampled_from(EXACT_DTYPES), seed=st.integers(0, 2**32))
def test_ops_match_numpy_in_any_layout(device, window, dtype, seed):
    ours, theirs = pair(window, dtype, device, seed)
    a = like(theirs)
    cases = [
        (a.astype("complex128"), theirs.astype("complex128")),
        (T.stack([a, a]), np.stack([theirs, theirs])),
        (T.concatenate([a, a], axis=None), np.concatenate([theirs, theirs], axis=None)),
        (sw.expand_dims(a, 0), np.expand_dims(theirs, 0)),
        (sw.where(a > 3, a, 2), np.where(theirs > 3, theirs, 2)),
        (a[a > 3] if a.ndim else a, theirs[theirs > 3] if theirs.ndim else theirs),
        (a.shape, np.array(theirs.shape, "int64")),
        (a.size, np.array(theirs.size)),
    ]
    if theirs.ndim:
        cases += [
            (a.sum(-1), theirs.sum(-1)),
            (a.cumsum(0), theirs.cumsum(0)),
            (a.swapaxes(0, -1), theirs.swapaxes(0, -1)),
            (a.reshape(a.shape[::-1]), theirs.reshape(theirs.shape[::-1])),
        ]
    if theirs.size and theirs.ndim:
        indices = np.array([[0, -1], [-1, 0]])
        changed = theirs.copy()
        changed[indices] = 7
        cases += [
            (a.max(0), theirs.max(0)),
            (a.argmin(-1), theirs.argmin(-1)),
            (a[indices], theirs[indices]),
            (a[..., [0, 0]], theirs[..., [0, 0]]),
            (T.set_subtensor(a[indices], 7), changed),
        ]
    f = sw.function([a], [case[0] for case in cases], device=device)
    for result, (variable, expected) in zip(f(ours), cases, strict=True):
        assert result.dtype == variable.dtype == expected.dtype, variable
        np.testing.assert_array_equal(result.numpy(), expected, str(variable))
    np.testing.assert_array_equal(ours.numpy(), theirs)
