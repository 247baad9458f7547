# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The contract of ops, as in Theano: the forms of make_thunk, cells, lazy thunks and errors."""

import traceback

import numpy as np
import pytest
from support.graph_steps import IfElse

import spanwise as sw

T = sw.tensor


def ones(*shape):
    return np.ones(shape, "float32")


class DoubleOp(sw.Op):
    """2 x; subclasses say how make_thunk is spelled."""

    def make_node(self, x):
        x = sw.graph.as_variable(x)
        return sw.Apply(self, [x], [x.type()])

    def bind(self, node, storage_map):
        (x,), (z,) = ([storage_map[v] for v in vs] for vs in (node.inputs, node.outputs))

        def thunk():
            z[0] = np.asarray(x[0]) * 2

        return thunk


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


class Perform(DoubleOp):
    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = np.asarray(inputs[0]) * 2
        return "ignored"


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
def test_every_shape_of_make_thunk(op, device):
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
def test_other_shapes_of_make_thunk_are_refused(make_thunk, message):
    op = type("Odd", (DoubleOp,), {"make_thunk": make_thunk})()
    x = T.fmatrix("x")
    with pytest.raises(sw.GraphError, match=message):
        sw.function([x], op(x))


def with_thunk(work):
    """An op of one input and one output whose thunk calls work(x_cell, z_cell)."""

    class Work(DoubleOp):
        def make_thunk(self, node, storage_map, compute_map, no_recycling):
            x, z = storage_map[node.inputs[0]], storage_map[node.outputs[0]]
            return lambda: work(x, z)

    return Work()


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
            z[2] = None
        with pytest.raises(TypeError):
            del z[0]
        with pytest.raises(TypeError):
            hash(z)
        z[0] = None
        seen["emptied"] = z[0]
        z[0] = x[0].copy()

    x = T.fmatrix("x")
    sw.function([x], with_thunk(work)(x))(ones(2, 3))
    assert seen == {
        "empty": (None, [None], 1, True, "[None]"),
        "full": ((2, 3), (2, 3), True, True, (2, 3), [(2, 3)]),
        "emptied": None,
    }


def test_results_leave_their_cells_and_intermediates_stay():
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
    f = sw.function([x], with_thunk(outer)(with_thunk(inner)(x)))
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

    class Note(DoubleOp):
        def make_thunk(self, node, storage_map, compute_map, no_recycling):
            lists.append((node.outputs[0], no_recycling))
            return self.bind(node, storage_map)

    x = T.fmatrix("x")
    y = Note()(x)
    z = Note()(y)
    sw.function([x], z)
    assert lists == [(y, []), (z, [z])]


@pytest.mark.parametrize("kind", ["numpy", "jax", "ours", "strided", "elsewhere"])
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
                (2, 3), 7, dtype="float32", device="cpu" if kind == "elsewhere" else device
            )
        z[0] = value

    x = T.fmatrix("x")
    result = sw.function([x], with_thunk(work)(x) + 1, device=device)(ones(2, 3))
    assert result.device == device and np.array_equal(result, np.full((2, 3), 8))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.ones((2, 3)), r"Work\(x\): output 0: expected dtype float32, got float64"),
        (np.ones(3, "float32"), r"Work\(x\): output 0: expected 2 axes, got 1 .shape .3,"),
        ("text", "an object of type str"),
        (None, "output 0 was not computed"),
    ],
)
def test_invalid_cell_value_error_names_the_node(value, message):
    def work(x, z):
        z[0] = value

    x = T.fmatrix("x")
    f = sw.function([x], with_thunk(work)(x))
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
        sw.function([x], with_thunk(work)(x))(ones(1, 1))


def test_lazy_thunks_compute_only_requested_inputs():
    runs = []

    def noting(name):
        def work(x, z):
            runs.append(name)
            z[0] = x[0].copy()

        return with_thunk(work)

    condition, x = T.iscalar("condition"), T.fmatrix("x")
    chosen = IfElse()(condition, noting("yes")(x) + 1, noting("no")(x) + 2)
    f = sw.function([condition, x], chosen * 10)
    assert f(1, ones(1, 1)).item() == 20 and runs == ["yes"]
    assert f(0, ones(1, 1)).item() == 30 and runs == ["yes", "no"]


@pytest.mark.parametrize(
    ("answers", "kind", "message"),
    [
        ([3], TypeError, "a lazy thunk returns a list"),
        ([[9]], sw.GraphError, "asks for input 9 of 1"),
        ([None], sw.GraphError, "has not set the compute_map"),
        ([[]], sw.GraphError, "has not set the compute_map"),
    ],
)
def test_lazy_thunks_are_held_to_their_contract(answers, kind, message):
    class Lazy(DoubleOp):
        def make_thunk(self, node, storage_map, compute_map, no_recycling):
            given = iter(answers)

            def thunk():
                return next(given)

            thunk.lazy = True
            return thunk

    x = T.fmatrix("x")
    with pytest.raises(kind, match=message):
        sw.function([x], Lazy()(x))(ones(1, 1))


class OwnError(Exception):
    pass


def failing(node, inputs, output_storage):
    raise OwnError("it broke")


class Fails(DoubleOp):
    broken = True

    def perform(self, node, inputs, output_storage):
        if Fails.broken:
            failing(node, inputs, output_storage)
        output_storage[0][0] = inputs[0]


def test_an_exception_keeps_type_and_traceback_and_names_the_node():
    x = T.fmatrix("x")
    y = Fails()(x + 1)  # made here
    f = sw.function([x], y * 2, name="train")
    Fails.broken = True
    with pytest.raises(OwnError, match="it broke") as caught:
        f(ones(2, 3))
    frames = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert frames[-2:] == ["perform", "failing"]
    shown = "".join(traceback.format_exception(caught.value))
    for part in (
        "Apply node that caused the error: Fails(Add.0)",
        "Toposort index: 1 of function train",
        "Inputs types: [TensorType(float32, matrix)]",
        "Inputs shapes: [(2, 3)]",
        "Inputs strides: [(12, 4)]",
        "Outputs clients: [[Multiply(Fails.0, TensorConstant{2.0})]]",
        "Created at:",
        "test_an_exception_keeps_type_and_traceback_and_names_the_node",
    ):
        assert part in shown
    Fails.broken = False
    assert np.array_equal(f(ones(2, 3)), ones(2, 3) * 4)


def test_spanwise_error_keeps_its_type():
    x, y = T.fvector("x"), T.fvector("y")
    f = sw.function([x, y], x + y)
    with pytest.raises(
        sw.Error, match=r"(?s)Apply node that caused the error: Add\(x, y\).*Inputs shapes"
    ):
        f(np.ones(2, "float32"), np.ones(3, "float32"))
    assert f(np.ones(2, "float32"), np.ones(1, "float32")).tolist() == [2, 2]


def test_an_error_in_make_thunk_names_the_node():
    class Bad(DoubleOp):
        def make_thunk(self, node, storage_map, compute_map, no_recycling):
            raise OwnError("no thunk today")

    x = T.fmatrix("x")
    with pytest.raises(OwnError) as caught:
        sw.function([x], Bad()(x), name="train")
    shown = "".join(traceback.format_exception(caught.value))
    assert "Bad(x), in make_thunk, for function train" in shown


def test_a_function_that_calls_itself_is_refused():
    functions = []
    x = T.fmatrix("x")

    def work(x, z):
        z[0] = functions[0](x[0])

    functions.append(sw.function([x], with_thunk(work)(x), name="f"))
    with pytest.raises(sw.GraphError, match="expected no recursion"):
        functions[0](ones(1, 1))


def test_functions_may_call_others():
    x = T.fmatrix("x")
    inner = sw.function([x], x * 2)

    def work(x, z):
        z[0] = inner(x[0])

    assert sw.function([x], with_thunk(work)(x) + 1)(ones(1, 1)).item() == 3


def test_an_undeclared_view_does_no_harm():
    def alias(x, z):
        z[0] = x[0]

    def transposed(x, z):
        z[0] = np.asarray(x[0]).T

    x = T.fmatrix("x")
    for work in (alias, transposed):
        op = with_thunk(work)
        f = sw.function([x], [op(x), op(x + 1)], device="cpu")
        given = ones(2, 2)
        first, second = f(given)
        first[...] = -1
        f(given * 7)
        assert np.array_equal(given, ones(2, 2))
        assert np.array_equal(second, ones(2, 2) + 1)


class AddOneInPlace(DoubleOp):
    destroy_map = {0: [0]}

    def perform(self, node, inputs, output_storage):
        values = np.asarray(inputs[0])
        values += 1
        output_storage[0][0] = inputs[0]


class Reversed(DoubleOp):
    view_map = {0: [0]}

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0][::-1]


def test_overwriting_ops_keep_inputs_and_run_last():
    x = T.fmatrix("x")
    y = x * 10
    op = AddOneInPlace()
    f = sw.function([x], [op(y), y + 5, Reversed()(y) + 7, op(x)], device="cpu")
    given = np.array([[1], [2]], "float32")
    for _ in range(2):
        results = [np.asarray(result).ravel().tolist() for result in f(given)]
        assert results == [[11, 21], [15, 25], [27, 17], [2, 3]]
    assert given.ravel().tolist() == [1, 2]
    assert any("Copy" in str(node) for node in f.maker.fgraph.toposort())


class Either(sw.Op):
    """A view of the input that `chosen` names."""

    view_map = {0: [0, 1]}

    def __init__(self, chosen):
        self.chosen = chosen

    def make_node(self, a, b):
        return sw.Apply(self, [a, b], [a.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[self.chosen]


def test_input_second_in_a_view_map_is_not_overwritten():
    x, y = T.fmatrix("x"), T.fmatrix("y")
    f = sw.function([x, y], [AddOneInPlace()(Either(1)(x * 10, y)), y * 2], device="cpu")
    for value in (5, 6):
        given = np.full((2, 1), value, "float32")
        results = [np.asarray(result).ravel().tolist() for result in f(given, given.copy())]
        assert results == [[value + 1] * 2, [value * 2] * 2]
        f(given.copy(), given)
        assert given.ravel().tolist() == [value] * 2


def test_result_second_in_a_view_map_is_not_overwritten():
    x = T.fmatrix("x")
    result = x * 100
    f = sw.function([x], [AddOneInPlace()(Either(1)(x * 10, result)), result], device="cpu")
    for _ in range(2):
        results = [np.asarray(result).tolist() for result in f(ones(1, 1))]
        assert results == [[[101]], [[100]]]


@pytest.mark.parametrize("chosen", [0, 1])
def test_readers_of_every_viewed_value_run_before_it_is_overwritten(chosen):
    x = T.fmatrix("x")
    a, b = x * 10, x * 100
    op = AddOneInPlace()
    f = sw.function([x], [op(Either(chosen)(a, b)) + 0, a + 5, b + 7], device="cpu")
    given = np.array([[1], [2]], "float32")
    for _ in range(2):
        results = [np.asarray(result).ravel().tolist() for result in f(given)]
        assert results == [[11, 21] if chosen == 0 else [101, 201], [15, 25], [107, 207]]


def test_a_view_map_that_names_no_input_is_an_error():
    op = Either(0)
    op.view_map = {0: [0, 2]}
    x = T.fmatrix("x")
    with pytest.raises(sw.GraphError, match="share memory with input 2 of 2"):
        sw.function([x], AddOneInPlace()(op(x * 2, x * 3)), device="cpu")


def test_overwriting_a_needed_value_raises():
    x = T.fmatrix("x")
    y = x * 10
    with pytest.raises(sw.GraphError, match="overwrites memory that"):
        sw.function([x], AddOneInPlace()(y) + y)


def test_props_give_equality_hash_and_str():
    class Scale(sw.Op):
        __props__ = ("factor", "mode")

        def __init__(self, factor, mode="fast"):
            self.factor, self.mode = factor, mode

    class Other(Scale):
        __props__ = ("factor", "mode")

    a, b = Scale(2), Scale(2)
    assert a == b and hash(a) == hash(b) and a != Scale(3) and a != Other(2) and a != 2
    assert str(a) == repr(a) == "Scale{factor=2, mode='fast'}"
    b.destroy_map = {0: [0]}
    assert a != b

    class Plain(sw.Op):
        __props__ = ()

    assert str(Plain()) == "Plain" and Plain() == Plain()

    class Own(sw.Op):
        __props__ = ()

        def __str__(self):
            return "mine"

    assert str(Own()) == "mine" and Own() == Own()

    class Without(sw.Op):
        pass

    assert Without() != Without() and str(Without()) == "Without"


def test_calling_an_op_gives_one_variable_or_a_list():
    class Two(sw.Op):
        def make_node(self, x):
            return sw.Apply(self, [x], [x.type(), x.type()])

    class Second(Two):
        default_output = 1

    x = T.fmatrix("x")
    assert isinstance(Two()(x), list) and len(Two()(x)) == 2
    assert Second()(x).index == 1
    assert Perform()(x, return_list=True)[0].owner.op is not None

    class Wrong(sw.Op):
        def make_node(self, x):
            return x

    with pytest.raises(sw.GraphError, match="make_node must return an Apply"):
        Wrong()(x)
    with pytest.raises(NotImplementedError, match="make_node"):
        sw.Op()(x)
    with pytest.raises(NotImplementedError, match="perform"):
        sw.function([x], DoubleOp()(x))(ones(1, 1))


def test_itypes_and_otypes_replace_make_node():
    class Add(sw.Op):
        itypes = (T.fvector().type, T.fvector().type)
        otypes = (T.fvector().type,)

        def perform(self, node, inputs, output_storage):
            output_storage[0][0] = np.asarray(inputs[0]) + np.asarray(inputs[1])

    x, y = T.fvectors("x", "y")
    assert sw.function([x, y], Add()(x, y))([1, 2], [3, 4]).tolist() == [4, 6]
    with pytest.raises(sw.GraphError, match="expected 2 inputs, got 1"):
        Add()(x)
    with pytest.raises(sw.GraphError, match="input 1 must be of"):
        Add()(x, T.fmatrix())


def test_python_ops_are_applied_again_after_givens_change_types():
    x = T.fmatrix("x")
    narrow = T.tensor("float32", (1, 1), "n")
    assert sw.function([narrow], Perform()(x), givens={x: narrow})(ones(1, 1)).item() == 2


def test_ops_and_thunks_go_away_with_their_function():
    import gc
    import weakref

    there = []

    class Held(DoubleOp):
        def make_thunk(self, node, storage_map, compute_map, no_recycling):
            thunk = self.bind(node, storage_map)
            there.append(weakref.ref(thunk))
            return thunk

    x = T.fmatrix("x")
    op = Held()
    there.append(weakref.ref(op))
    f = sw.function([x], op(x))
    f(ones(1, 1))
    del op
    gc.collect()
    assert all(ref() is not None for ref in there)
    del f
    gc.collect()
    assert all(ref() is None for ref in there)


def test_thunks_run_on_the_functions_device(device):
    places = []

    class Where(DoubleOp):
        def make_thunk(self, node, storage_map, compute_map, no_recycling):
            places.append(sw.default_device())
            z = storage_map[node.outputs[0]]

            def thunk():
                places.append(sw.default_device())
                z[0] = sw.zeros((1, 1), dtype="float32")

            return thunk

    x = T.fmatrix("x")
    assert sw.function([x], Where()(x), device=device)(ones(1, 1)).device == device
    assert places == [device, device]
