# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Variables do what arrays do: each expression on a variable gives what NumPy gives, on any
layout."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from support.arrays import numbers, pair, windows

import spanwise as sw

T = sw.tensor


#: Whole numbers that these hold, and what sums make of them, are exact.
EXACT = ("int8", "int32", "int64", "uint8", "float32", "float64", "complex128")


def like(values, name=None):
    """A variable that may hold `values`, whatever their extents."""
    return T.tensor(str(values.dtype), (None,) * values.ndim, name)


def check(expression, *values, device, exact=True, mode=None, oracle=None):
    """What `expression` makes of variables of these values, on two calls, is what NumPy makes of
    them."""
    variables = [like(v) for v in values]
    result = expression(*variables)
    f = sw.function(variables, result, device=device, mode=mode, on_unused_input="ignore")
    for _ in range(2):
        ours = f(*values)
        theirs = np.asarray((oracle or expression)(*values))
        assert result.ndim == theirs.ndim and result.type.dtype == ours.dtype
        assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
        compare = np.testing.assert_array_equal if exact else np.testing.assert_allclose
        compare(ours.numpy(), theirs, **({} if exact else {"rtol": 1e-6}))
        if ours.flags.writeable:
            ours[...] = 0  # what the caller does with a result changes no later one


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


def test_reduction_names_show_their_properties():
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
    """As on arrays, which other tests hold against NumPy."""
    x = np.random.default_rng(4).standard_normal((2, 3, 4))
    a, change = like(x), SHAPES[name]
    f = sw.function([a], [change(a), change(a + 1)], device=device)
    for source in (x, x[::-1, ::-1], np.asfortranarray(x)):
        for ours, values in zip(f(source), (source, source + 1), strict=True):
            theirs = change(sw.array(values, device=device)).numpy()
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


def test_static_shapes_are_constants():
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


@given(window=windows(), dtype=st.sampled_from(EXACT), seed=st.integers(0, 2**32))
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
        places = np.array([[0, -1], [-1, 0]])
        changed = theirs.copy()
        changed[places] = 7
        cases += [
            (a.max(0), theirs.max(0)),
            (a.argmin(-1), theirs.argmin(-1)),
            (a[places], theirs[places]),
            (a[..., [0, 0]], theirs[..., [0, 0]]),
            (T.set_subtensor(a[places], 7), changed),
        ]
    f = sw.function([a], [case[0] for case in cases], device=device)
    for result, (variable, expected) in zip(f(ours), cases, strict=True):
        assert result.dtype == variable.dtype == expected.dtype, variable
        np.testing.assert_array_equal(result.numpy(), expected, str(variable))
    np.testing.assert_array_equal(ours.numpy(), theirs)


INDICES = {
    "integer": np.s_[1],
    "slices": np.s_[1:, ::-1, -3:3],
    "ellipsis": np.s_[..., 0],
    "newaxis": np.s_[None, 1, ..., None],
    "far": np.s_[: 10**30, -(10**30) :],
    "all": np.s_[:],
    "none of it": np.s_[()],
    "list": np.s_[[1, 0, 1]],
    "array": np.s_[:, np.array([[0, 2], [-1, 1]])],
    "arrays": np.s_[np.array([0, 1]), :, np.array([3, 2])],
    "array and integer": np.s_[0, :, np.array([3, 2])],
    "neighbours": np.s_[:, np.array([0, 1]), np.array([3, 2])],
    "mask": np.s_[np.array([[True, False, True], [False, True, True]])],
    "mask of one axis": np.s_[:, np.array([True, False, True])],
    "empty": np.s_[[]],
}


@pytest.mark.parametrize("mode", ["fast_run", "debug"])
@pytest.mark.parametrize("key", INDICES.values(), ids=INDICES)
def test_indexed_variables_match_numpy(device, key, mode):
    x = np.random.default_rng(6).standard_normal((2, 3, 4))
    check(lambda a: a[key], x, device=device, mode=mode)
    check(lambda a: (a + 1)[key] * 2, x, device=device, mode=mode)


def test_computed_indices_match_numpy(device):
    x = np.random.default_rng(7).standard_normal((5, 6))
    a, i, v = T.dmatrix("a"), T.lscalar("i"), T.ivector("v")
    f = sw.function(
        [a, i, v], [a[i], a[i:, ::-i], a[v], a[v, i], a[a > 0], a[i + 1 :: 2]], device=device
    )
    for n in (1, 2):
        where = np.array([n, 0, -1], "int32")
        expected = [x[n], x[n:, ::-n], x[where], x[where, n], x[x > 0], x[n + 1 :: 2]]
        for ours, theirs in zip(f(x, n, where), expected, strict=True):
            np.testing.assert_array_equal(ours.numpy(), theirs)
    with pytest.raises(IndexError, match="index 9"):
        f(x, 9, [0])


def test_invalid_indices_raise_when_the_graph_is_built():
    a = T.fmatrix("a")
    for key in (1.5, "name", {"a": 1}, np.array([1.5])):
        with pytest.raises(IndexError):
            a[key]
    with pytest.raises(IndexError, match="too many indices"):
        a[0, 0, 0]
    with pytest.raises(IndexError, match="Ellipsis"):
        a[..., 0, ...]
    with pytest.raises(ValueError, match="step of a slice cannot be 0"):
        a[::0]
    with pytest.raises(TypeError, match="integer"):
        a[T.fscalar() :]
    with pytest.raises(TypeError, match="assignment"):
        a[0] = 1


def test_set_and_inc_subtensor_match_numpy(device):
    x, y = np.arange(12.0).reshape(3, 4), np.array([7.0, 8.0, 9.0, 10.0])
    a, b = T.dmatrix("a"), T.dvector("b")
    keys = [np.s_[1], np.s_[::-1], np.s_[[2, 0]], np.s_[:, np.array([True, False, True, True])]]
    made = [T.set_subtensor(a[k], b[: a[k].shape[-1]]) for k in keys]
    added = T.inc_subtensor((a + 1)[1:], b)
    inside = T.set_subtensor((a - 1)[1:], b)
    f = sw.function([a, b], [*made, inside, added], device=device)
    results = f(x, y)
    for key, ours in zip(keys, results, strict=False):
        theirs = x.copy()
        theirs[key] = y[: theirs[key].shape[-1]]
        np.testing.assert_array_equal(ours.numpy(), theirs)
    theirs = [x - 1, x + 1]
    theirs[0][1:] = y
    theirs[1][1:] += y
    for ours, expected in zip(results[-2:], theirs, strict=True):
        np.testing.assert_array_equal(ours.numpy(), expected)
    assert x[0, 0] == 0
    ops = [str(node.op) for node in f.maker.fgraph.toposort()]
    assert "SetSubtensor{1:}[(0, 0)]" in ops and "SetSubtensor{1}" in ops  # a is the caller's
    with pytest.raises(sw.GraphError, match="expected an index"):
        T.set_subtensor(a, b)


def test_joined_variables_match_numpy(device):
    x, y = np.arange(6.0).reshape(2, 3), np.arange(6, dtype="float32").reshape(2, 3)
    for join in (
        lambda m, a, b: m.concatenate([a, b]),
        lambda m, a, b: m.concatenate((a, b, a), axis=-1),
        lambda m, a, b: m.concatenate([a, b], axis=None),
        lambda m, a, b: m.stack([a, b], axis=1),
        lambda m, a, b: m.vstack([a, b[0]]),
        lambda m, a, b: m.hstack([a, b]),
        lambda m, a, b: m.dstack([a, b]),
        lambda m, a, b: m.column_stack([a[0], b[1]]),
        lambda m, a, b: m.concatenate([a, np.ones((1, 3))]),
        lambda m, a, b: m.concatenate([a, b], dtype="float32", casting="same_kind"),
    ):
        for names in (sw, np):  # NumPy's functions build the same graph
            check(
                lambda a, b: join(names, a, b),  # noqa: B023
                x,
                y,
                device=device,
                oracle=lambda a, b: join(np, a, b),  # noqa: B023
            )
    a, b = T.tensor("float32", (2, 3)), T.tensor("float32", (None, 3))
    assert T.join(0, a, b).type.shape == (None, 3) and T.stack([a, a]).type.shape == (2, 2, 3)
    with pytest.raises(ValueError, match="must match exactly"):
        T.concatenate([a, T.tensor("float32", (2, 4))])
    with pytest.raises(ValueError, match="match in number"):
        T.concatenate([a, T.fvector()])
    with pytest.raises(IndexError, match="axis 2"):
        T.concatenate([a, b], axis=2)


def test_where_clip_round_and_softmax_match_numpy(device):
    x = np.random.default_rng(8).standard_normal((3, 4)) * 3
    check(
        lambda a: sw.where(a > 0, a, -1.0),
        x,
        device=device,
        oracle=lambda v: np.where(v > 0, v, -1),
    )
    check(lambda a: a.clip(-1, 1), x, device=device)
    check(lambda a: a.clip(max=0.5), x, device=device)
    check(lambda a: a.round(1), x, device=device, exact=False)

    def softmax(v, axis=-1):
        e = np.exp(v - v.max(axis, keepdims=True))
        return e / e.sum(axis, keepdims=True)

    for axis in (-1, 0, None):
        check(lambda a: T.softmax(a, axis), x, device=device, exact=False,  # noqa: B023
              oracle=lambda v: softmax(v, axis))  # noqa: B023  # fmt: skip
        check(lambda a: T.log_softmax(a, axis), x, device=device, exact=False,  # noqa: B023
              oracle=lambda v: np.log(softmax(v, axis)))  # noqa: B023  # fmt: skip
    large = sw.array([1000.0, 0.0, -1000.0], device=device)
    assert sw.softmax(large).tolist() == [1.0, 0.0, 0.0]
    assert sw.log_softmax(large).tolist() == [0.0, -1000.0, -2000.0]


def test_numpys_functions_build_the_graph(device):
    x = np.random.default_rng(9).random((3, 4))
    for function in (
        np.exp, np.sum, np.transpose, np.ravel, np.squeeze, lambda a: np.mean(a, axis=0),
        lambda a: np.add(a, x), lambda a: x * a, lambda a: np.where(a > 0.5, a, x),
        lambda a: np.dot(a, x.T), lambda a: np.clip(a, 0.2, 0.8), lambda a: np.reshape(a, (4, 3)),
        lambda a: np.cumsum(a, axis=1), lambda a: np.add.reduce(a), lambda a: np.expand_dims(a, 0),
    ):  # fmt: skip
        assert isinstance(function(like(x)), sw.Variable)
        check(function, x, device=device, exact=False)
    a = T.dmatrix("a")
    assert np.ndim(a) == 2 and sw.graph.equal(np.shape(a), a.shape)
    with pytest.raises(TypeError, match="no value yet"):
        np.linalg.svd(a)
    with pytest.raises(TypeError, match="no value yet"):
        np.asarray(a)
    with pytest.raises(TypeError, match="no value yet"):
        np.spacing(a)


def test_len_iteration_and_bool_of_a_variable_raise():
    a, b = T.fmatrix("a"), T.tensor("float32", (3, None), "b")
    with pytest.raises(TypeError, match=r"a has no length yet.*x\.shape\[0\]"):
        len(a)
    with pytest.raises(TypeError, match=r"a cannot be iterated over.*T\.sum"):
        sum(a)
    with pytest.raises(TypeError, match="neither true nor false"):
        bool(a)
    assert len(b) == 3 and [row.ndim for row in b] == [1, 1, 1]
    assert sum(b).eval({b: np.ones((3, 2), "float32")}).tolist() == [3, 3]
    assert len(T.ones_like(b).type.shape) == 2


def test_eval_and_like_functions_compute_the_values(device):
    with sw.config.change(device=str(device)):
        a = T.fmatrix("a")
        x = np.arange(6, dtype="float32").reshape(2, 3)
        assert (a.sum(1) * 2).eval({a: x}).tolist() == [6.0, 24.0]
        assert T.zeros_like(a).eval({a: x}).tolist() == np.zeros((2, 3)).tolist()
        assert T.ones_like(a, "int8").eval({a: x}).dtype == "int8"
        assert a.shape.eval({a: x}).tolist() == [2, 3] and int(a.size.eval({a: x})) == 6
        assert T.cast(a, "int32").dtype == "int32" and a.astype("float32") is a


def test_shapes_ask_for_no_transfer():
    a = T.tensor("float32", (None, None), device="cpu:1")
    f = sw.function([a], [a.shape, a.sum() * a.shape[0]], device="cpu:1")
    assert not any("Transfer" in str(node.op) for node in f.maker.fgraph.toposort())
    shape, total = f(np.ones((2, 3), "float32"))
    assert shape.device == sw.device("cpu") and total.device == sw.device("cpu:1")


class WhereIs(sw.Op):
    """Its input, and where that was."""

    def __init__(self):
        self.seen = []

    def make_node(self, x):
        return sw.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        self.seen.append(str(inputs[0].device))
        output_storage[0][0] = inputs[0].copy()


@pytest.mark.parametrize("place", ["cpu", "cpu:1"])
def test_inputs_of_rank_0_on_the_host_are_accepted(place):
    """Those that an index or a kernel takes by value stay there; what other ops read is moved."""
    a, i, x = T.dvector("a"), T.lscalar("i"), T.dscalar("x")
    op = WhereIs()
    f = sw.function([a, i, x], [a[i:] * x, a[i], op(i), x], device=place)
    values = np.arange(4.0)
    for n in (1, sw.array(1, device=place), sw.array(1, device="cpu")):
        results = f(values, n, 2.0)
        assert [r.tolist() for r in results] == [[2.0, 4.0, 6.0], 1.0, 1, 2.0]
        assert [str(r.device) for r in results] == [place] * 4
    assert op.seen == [place] * 3
    g = sw.function([a, i], [a[i:], (a * i).sum()], device=place)
    for n in (2, sw.array(2, device=place)):
        assert [r.tolist() for r in g(values, n)] == [[2.0, 3.0], 12.0]


def test_views_are_counted_in_memory_plans_and_in_place(device):
    x = np.random.default_rng(10).standard_normal((64, 64)).astype("float32")
    a = T.fmatrix("a")
    b = sw.exp(a)
    rows, columns = b[::2], b.T
    c = sw.tanh(rows)  # must not overwrite b, which columns still views
    d = sw.exp(c * 0.5)
    f = sw.function([a], [c + 1, (columns + b).sum(0), d[0], rows], device=device)
    for _ in range(3):
        results = f(x)
        e = np.exp(x)
        expected = [np.tanh(e[::2]) + 1, (e.T + e).sum(0), np.exp(np.tanh(e[::2]) * 0.5)[0], e[::2]]
        for ours, theirs in zip(results, expected, strict=True):
            np.testing.assert_allclose(ours.numpy(), theirs, rtol=1e-4)
            ours[...] = np.nan
