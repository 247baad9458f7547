# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The contract of ops: errors, properties, calls, lifetimes."""

import gc
import traceback
import weakref

import numpy as np
import pytest
from python.graph.custom_ops.contract_ops import DoubleOp, Perform, T, ones, op_with_thunk

import spanwise as sw


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
    y = Fails()(x + 1)  # the node is created here
    f = sw.function([x], y * 2, name="train")
    Fails.broken = True
    with pytest.raises(OwnError, match="it broke") as caught:
        f(ones(2, 3))
    frames = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert frames[-2:] == ["perform", "failing"]
    text = "".join(traceback.format_exception(caught.value))
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
        assert part in text
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
            raise OwnError("in make_thunk")

    x = T.fmatrix("x")
    with pytest.raises(OwnError) as caught:
        sw.function([x], Bad()(x), name="train")
    text = "".join(traceback.format_exception(caught.value))
    assert "Bad(x), in make_thunk, for function train" in text


def test_a_function_that_calls_itself_is_refused():
    functions = []
    x = T.fmatrix("x")

    def work(x, z):
        z[0] = functions[0](x[0])

    functions.append(sw.function([x], op_with_thunk(work)(x), name="f"))
    with pytest.raises(sw.GraphError, match="expected no recursion"):
        functions[0](ones(1, 1))


def test_function_may_call_another_function():
    x = T.fmatrix("x")
    inner = sw.function([x], x * 2)

    def work(x, z):
        z[0] = inner(x[0])

    assert sw.function([x], op_with_thunk(work)(x) + 1)(ones(1, 1)).item() == 3


def test_props_give_equality_hash_and_str():
    class Scale(sw.Op):
        __props__ = ("factor", "mode")

        def __init__(self, factor, mode="fast"):
            self.factor, self.mode = factor, mode

    class Derived(Scale):
        __props__ = ("factor", "mode")

    a, b = Scale(2), Scale(2)
    assert a == b and hash(a) == hash(b) and a != Scale(3) and a != Derived(2) and a != 2
    assert str(a) == repr(a) == "Scale{factor=2, mode='fast'}"
    b.destroy_map = {0: [0]}
    assert a != b

    class Plain(sw.Op):
        __props__ = ()

    assert str(Plain()) == "Plain" and Plain() == Plain()

    class WithStr(sw.Op):
        __props__ = ()

        def __str__(self):
            return "mine"

    assert str(WithStr()) == "mine" and WithStr() == WithStr()

    class WithoutProps(sw.Op):
        pass

    assert WithoutProps() != WithoutProps() and str(WithoutProps()) == "WithoutProps"


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


def test_ops_and_thunks_are_released_with_their_function():
    references = []

    class Held(DoubleOp):
        def make_thunk(self, node, storage_map, compute_map, no_recycling):
            thunk = self.bind(node, storage_map)
            references.append(weakref.ref(thunk))
            return thunk

    x = T.fmatrix("x")
    op = Held()
    references.append(weakref.ref(op))
    f = sw.function([x], op(x))
    f(ones(1, 1))
    del op
    gc.collect()
    assert all(ref() is not None for ref in references)
    del f
    gc.collect()
    assert all(ref() is None for ref in references)


def test_thunks_run_on_the_functions_device(device):
    devices = []

    class RecordsDevice(DoubleOp):
        def make_thunk(self, node, storage_map, compute_map, no_recycling):
            devices.append(sw.default_device())
            z = storage_map[node.outputs[0]]

            def thunk():
                devices.append(sw.default_device())
                z[0] = sw.zeros((1, 1), dtype="float32")

            return thunk

    x = T.fmatrix("x")
    assert sw.function([x], RecordsDevice()(x), device=device)(ones(1, 1)).device == device
    assert devices == [device, device]
