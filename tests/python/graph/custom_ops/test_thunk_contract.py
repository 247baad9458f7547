# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The contract of an op's make_thunk and perform, and of cells."""

import numpy as np
import pytest
from python.graph.custom_ops.contract_ops import DoubleOp, Perform, T, ones, op_with_thunk
from support.step_ops import IfElse

import spanwise as sw


class FourParameters(DoubleOp):
    def make_thunk(self, node, storage_map, _, _2):
        return self.bind(node, storage_map)


class FiveParameters(DoubleOp):
    def make_thunk(self, node, storage_map, compute_map, no_recycling, impl):
        assert impl is None
        return self.bind(node, storage_map)


class DefaultImpl(DoubleOp):
    def make_thunk(self, node, storage_map, compute_map, no_recycling, impl=None):
        return self.bind(node, storage_map)


class AnyParameters(DoubleOp):
    def make_thunk(self, *args):
        node, storage_map, _, _, _ = args
        return self.bind(node, storage_map)


class CallableObject(DoubleOp):
    def make_thunk(self, node, storage_map, compute_map, no_recycling):
        class Thunk:
            __slots__ = ("call",)  # takes no attribute `lazy`

            def __call__(self):
                self.call()

        thunk = Thunk()
        thunk.call = self.bind(node, storage_map)
        return thunk


class LazyFalse(DoubleOp):
    def make_thunk(self, node, storage_map, compute_map, no_recycling):
        thunk = self.bind(node, storage_map)
        thunk.lazy = False
        return thunk


@pytest.mark.parametrize(
    "op",
    [
        FourParameters,
        FiveParameters,
        DefaultImpl,
        AnyParameters,
        CallableObject,
        LazyFalse,
        Perform,
    ],
)
def test_each_signature_of_make_thunk_is_accepted(op, device):
    x = T.fmatrix("x")
    f = sw.function([x], op()(op()(x)), device=device)
    result = f(ones(2, 3))
    assert result.device == device
    assert np.array_equal(result, ones(2, 3) * 4)
    assert np.array_equal(f(ones(1, 1) * 3), [[12]])


@pytest.mark.parametrize(
    ("make_thunk", "message"),
    [
        (lambda self, node: None, "must take .self, node, storage_map"),
        (
            lambda self, node, storage_map, compute_map, no_recycling: 3,
            "callable without arguments, got 3",
        ),
    ],
)
def test_other_signature_or_result_of_make_thunk_raises(make_thunk, message):
    op = type("Odd", (DoubleOp,), {"make_thunk": make_thunk})()
    x = T.fmatrix("x")
    with pytest.raises(sw.GraphError, match=message):
        sw.function([x], op(x))


def test_cell_is_indexed_like_a_list_of_one_value():
    seen = {}

    def work(x, z):
        seen["empty"] = (z[0], list(z), len(z), z == [None], repr(z))
        z[0] = x[0]
        seen["full"] = (
            z[0].shape,
            z[-1].shape,
            z == z,
            z != x,
            z[:][0].shape,
            [c.shape for c in z],
        )
        with pytest.raises(IndexError):
            z[1]
        with pytest.raises(IndexError):
            z[2**70]
        with pytest.raises(IndexError):
            z[2] = None
        with pytest.raises(TypeError):
            del z[0]
        with pytest.raises(TypeError):
            hash(z)
        z[0] = None
        seen["emptied"] = z[0]
        z[0] = x[0].copy()

    x = T.fmatrix("x")
    sw.function([x], op_with_thunk(work)(x))(ones(2, 3))
    assert seen == {
        "empty": (None, [None], 1, True, "[None]"),
        "full": ((2, 3), (2, 3), True, True, (2, 3), [(2, 3)]),
        "emptied": None,
    }


def test_cells_of_results_are_emptied_and_those_of_intermediates_kept():
    inner_cells, outer_cells = [], []

    def inner(x, z):
        inner_cells.append(z[0] is None)
        if z[0] is None or z[0].shape != x[0].shape:
            z[0] = sw.empty(x[0].shape, dtype="float32", device=x[0].device)
        z[0][...] = x[0]

    def outer(x, z):
        outer_cells.append(z[0] is None)
        z[0] = x[0].copy()

    x = T.fmatrix("x")
    f = sw.function([x], op_with_thunk(outer)(op_with_thunk(inner)(x)))
    first = f(ones(2, 2))
    second = f(ones(2, 2) * 5)
    f(ones(3, 1))
    assert inner_cells == [True, False, False] and outer_cells == [True, True, True]
    assert np.array_equal(first, ones(2, 2)) and np.array_equal(second, ones(2, 2) * 5)
    f.free()
    f(ones(3, 1))
    assert inner_cells[-1] is True


def test_no_recycling_lists_escaping_outputs():
    lists = []

    class RecordsNoRecycling(DoubleOp):
        def make_thunk(self, node, storage_map, compute_map, no_recycling):
            lists.append((node.outputs[0], no_recycling))
            return self.bind(node, storage_map)

    x = T.fmatrix("x")
    y = RecordsNoRecycling()(x)
    z = RecordsNoRecycling()(y)
    sw.function([x], z)
    assert lists == [(y, []), (z, [z])]


@pytest.mark.parametrize("kind", ["numpy", "jax", "spanwise", "strided", "on the cpu"])
def test_cells_take_arrays_of_any_library(kind, device):
    def work(x, z):
        if kind == "jax":
            value = pytest.importorskip("jax").numpy.full((2, 3), 7, "float32")
        elif kind == "numpy":
            value = np.full((2, 3), 7, "float32")
        elif kind == "strided":
            value = sw.full((3, 2), 7, dtype="float32", device=device).T
        else:
            value = sw.full(
                (2, 3), 7, dtype="float32", device="cpu" if kind == "on the cpu" else device
            )
        z[0] = value

    x = T.fmatrix("x")
    result = sw.function([x], op_with_thunk(work)(x) + 1, device=device)(ones(2, 3))
    assert result.device == device and np.array_equal(result, np.full((2, 3), 8))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.ones((2, 3)), r"Work\(x\): output 0: expected dtype float32, got float64"),
        (np.ones(3, "float32"), r"Work\(x\): output 0: expected 2 axes, got 1 .shape .3,"),
        ("text", "got the text 'text'"),
        (None, "output 0 was not computed"),
    ],
)
def test_invalid_cell_value_error_names_the_node(value, message):
    def work(x, z):
        z[0] = value

    x = T.fmatrix("x")
    f = sw.function([x], op_with_thunk(work)(x))
    with pytest.raises(sw.Error, match=message) as caught:
        f(ones(2, 3))
    if value is not None:
        assert isinstance(caught.value, TypeError)


@pytest.mark.parametrize("value", [[], [0], 3, "done"])
def test_a_thunk_that_is_not_lazy_returns_none(value):
    def work(x, z):
        z[0] = x[0]
        return value

    x = T.fmatrix("x")
    with pytest.raises(TypeError, match="a thunk that is not lazy returns None, got"):
        sw.function([x], op_with_thunk(work)(x))(ones(1, 1))


def test_lazy_thunks_compute_only_requested_inputs():
    runs = []

    def recording_op(name):
        def work(x, z):
            runs.append(name)
            z[0] = x[0].copy()

        return op_with_thunk(work)

    condition, x = T.iscalar("condition"), T.fmatrix("x")
    chosen = IfElse()(condition, recording_op("yes")(x) + 1, recording_op("no")(x) + 2)
    f = sw.function([condition, x], chosen * 10)
    assert f(1, ones(1, 1)).item() == 20 and runs == ["yes"]
    assert f(0, ones(1, 1)).item() == 30 and runs == ["yes", "no"]


@pytest.mark.parametrize(
    ("requests", "error", "message"),
    [
        ([3], TypeError, "a lazy thunk returns a list"),
        ([[9]], sw.GraphError, "requests input 9 of 1"),
        ([None], sw.GraphError, "has not set the compute_map"),
        ([[]], sw.GraphError, "has not set the compute_map"),
    ],
)
def test_lazy_thunks_are_held_to_their_contract(requests, error, message):
    class Lazy(DoubleOp):
        def make_thunk(self, node, storage_map, compute_map, no_recycling):
            remaining = iter(requests)

            def thunk():
                return next(remaining)

            thunk.lazy = True
            return thunk

    x = T.fmatrix("x")
    with pytest.raises(error, match=message):
        sw.function([x], Lazy()(x))(ones(1, 1))
