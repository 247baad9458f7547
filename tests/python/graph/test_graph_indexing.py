# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Indexing, joining and choosing of variables, against arrays."""

import numpy as np
import pytest
from python.graph.variable_checks import T, check, like

import spanwise as sw

INDICES = {
    "integer": np.s_[1],
    "slices": np.s_[1:, ::-1, -3:3],
    "ellipsis": np.s_[..., 0],
    "newaxis": np.s_[None, 1, ..., None],
    "bounds beyond the extents": np.s_[: 10**30, -(10**30) :],
    "all": np.s_[:],
    "empty tuple": np.s_[()],
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
        indices = np.array([n, 0, -1], "int32")
        expected = [x[n], x[n:, ::-n], x[indices], x[indices, n], x[x > 0], x[n + 1 :: 2]]
        for ours, theirs in zip(f(x, n, indices), expected, strict=True):
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
    with pytest.raises(TypeError, match="cannot be assigned to; T.set_subtensor"):
        a[0] = 1


def test_set_and_inc_subtensor_match_numpy(device):
    x, y = np.arange(12.0).reshape(3, 4), np.array([7.0, 8.0, 9.0, 10.0])
    a, b = T.dmatrix("a"), T.dvector("b")
    keys = [np.s_[1], np.s_[::-1], np.s_[[2, 0]], np.s_[:, np.array([True, False, True, True])]]
    replaced = [T.set_subtensor(a[k], b[: a[k].shape[-1]]) for k in keys]
    # Of computed arrays, which may be overwritten.
    replaced_rows = T.set_subtensor((a - 1)[1:], b)
    added_rows = T.inc_subtensor((a + 1)[1:], b)
    f = sw.function([a, b], [*replaced, replaced_rows, added_rows], device=device)
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
    assert "SetSubtensor{1:}[(0, 0)]" in ops and "SetSubtensor{1}" in ops  # a is an argument
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
        for module in (sw, np):  # NumPy's functions build the same graph
            check(
                lambda a, b: join(module, a, b),  # noqa: B023
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


def test_shapes_and_numbers_on_the_host_need_no_transfer():
    a = T.tensor("float32", (None, None), device="cpu:1")
    f = sw.function([a], [a.shape, a.sum() * a.shape[0]], device="cpu:1")
    assert not any("Transfer" in str(node.op) for node in f.maker.fgraph.toposort())
    shape, total = f(np.ones((2, 3), "float32"))
    assert shape.device == sw.device("cpu") and total.device == sw.device("cpu:1")


class RecordsDevice(sw.Op):
    """A copy of its input; `seen` lists the devices of the inputs."""

    def __init__(self):
        self.seen = []

    def make_node(self, x):
        return sw.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        self.seen.append(str(inputs[0].device))
        output_storage[0][0] = inputs[0].copy()


@pytest.mark.parametrize("function_device", ["cpu", "cpu:1"])
def test_inputs_of_rank_0_on_the_host_are_accepted(function_device):
    """Inputs that an index or a kernel takes by value stay on the host; other ops get a copy on their
    device."""
    a, i, x = T.dvector("a"), T.lscalar("i"), T.dscalar("x")
    op = RecordsDevice()
    f = sw.function([a, i, x], [a[i:] * x, a[i], op(i), x], device=function_device)
    values = np.arange(4.0)
    for n in (1, sw.array(1, device=function_device), sw.array(1, device="cpu")):
        results = f(values, n, 2.0)
        assert [r.tolist() for r in results] == [[2.0, 4.0, 6.0], 1.0, 1, 2.0]
        assert [str(r.device) for r in results] == [function_device] * 4
    assert op.seen == [function_device] * 3
    g = sw.function([a, i], [a[i:], (a * i).sum()], device=function_device)
    for n in (2, sw.array(2, device=function_device)):
        assert [r.tolist() for r in g(values, n)] == [[2.0, 3.0], 12.0]


def test_viewed_memory_is_not_overwritten_or_reused(device):
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
