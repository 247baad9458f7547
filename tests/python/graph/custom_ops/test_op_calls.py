# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""One rule for calls of ops of every kind: arrays compute, a variable makes a graph (docs/adr/0024)."""

import numpy as np
import pytest

import spanwise as sw

T = sw.tensor


class Doubled(sw.Op):
    __props__ = ()

    def make_node(self, x):
        x = T.as_tensor_variable(x)
        return sw.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0] * 2


class SumAndDifference(sw.Op):
    def __init__(self, default_output=None):
        self.default_output = default_output

    def make_node(self, x, y):
        x, y = T.as_tensor_variable(x), T.as_tensor_variable(y)
        return sw.Apply(self, [x, y], [x.type(), x.type()])

    def make_thunk(self, node, storage_map, compute_map, no_recycling):
        x, y = (storage_map[v] for v in node.inputs)
        outputs = [storage_map[v] for v in node.outputs]

        def thunk():
            outputs[0][0], outputs[1][0] = x[0] + y[0], x[0] - y[0]

        return thunk


@sw.graph.as_op(itypes=[T.dvector], otypes=[T.dvector])
def tripled(x):
    return x * 3


def ops():
    kernel = sw.kernel_op("doubled", "y = x * 2", "T x", "T y")
    x = T.dvector()
    return {
        "class": (Doubled(), 2),
        "kernel_op": (kernel, 2),
        "function": (tripled, 3),
        "graph": (sw.graph.OpFromGraph([x], [x * 2]), 2),
        "registered": (sw.ops.negative, -1),
    }


@pytest.mark.parametrize("kind", ["class", "kernel_op", "function", "graph", "registered"])
def test_arrays_compute_and_a_variable_makes_a_graph(kind, device):
    op, factor = ops()[kind]
    value = np.arange(4.0)
    for x in (sw.array(value, device=device), value):
        result = op(x)
        assert isinstance(result, sw.Array), kind
        np.testing.assert_array_equal(result.to("cpu").numpy(), factor * value)
    assert op(sw.array(value, device=device)).device == device
    assert op([0.0, 1.0]).tolist() == [0.0, factor]
    v = T.dvector("v")
    y = op(v)
    assert isinstance(y, sw.Variable)
    np.testing.assert_array_equal(sw.function([v], y)(value), factor * value)


def test_outputs_are_those_of_a_call_on_variables():
    x, y = sw.arange(3.0), np.ones(3)
    total, difference = SumAndDifference()(x, y)
    assert total.tolist() == [1, 2, 3] and difference.tolist() == [-1, 0, 1]
    assert SumAndDifference(default_output=1)(x, y).tolist() == [-1, 0, 1]
    (only,) = Doubled()(x, return_list=True)
    assert only.tolist() == [0, 2, 4]
    assert isinstance(SumAndDifference()(T.dvector(), y), list)
    assert x.tolist() == [0, 1, 2]


def test_op_without_a_result_of_its_own_is_asked_for_a_node():
    class Lazy(Doubled):
        eager = False

    result = Lazy()(np.arange(3.0))
    assert isinstance(result, sw.Variable) and result.eval().tolist() == [0, 2, 4]


def test_errors_of_the_op_keep_their_type():
    with pytest.raises(sw.GraphError, match="FromFunctionOp.*input 0 must be of"):
        tripled(np.arange(3, dtype="int32"))


def test_calls_on_arrays_need_no_test_values():
    with sw.config.change(compute_test_value="raise"):
        assert Doubled()(np.ones(2)).tolist() == [2, 2]


def test_ops_of_the_theano_face_make_variables():
    from spanwise import theano

    class OldOp(theano.Op):
        __props__ = ()

        def make_node(self, x):
            x = theano.tensor.as_tensor_variable(x)
            return theano.Apply(self, [x], [x.type()])

        def perform(self, node, inputs, output_storage):
            output_storage[0][0] = inputs[0] * 2

    result = OldOp()(np.arange(3.0))
    assert isinstance(result, sw.Variable) and result.eval().tolist() == [0, 2, 4]


def assign(v):
    v[0] = 1


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (float, "v is a graph variable, .* no Python number; .eval"),
        (int, "v is a graph variable, .* no Python number; .eval"),
        (range, "v is a graph variable, .* no Python number; .eval.* T.arange"),
        (lambda v: [1, 2][v], "v is a graph variable, .* no Python number; .eval"),
        (lambda v: v.tolist(), r"v is a graph variable, .* no attribute 'tolist'; .eval\({...}\)"),
        (lambda v: v.item(), "v is a graph variable, .* no attribute 'item'; .eval"),
        (lambda v: v.numpy(), "v is a graph variable, .* no attribute 'numpy'; .eval"),
        (assign, "v is a graph variable, .* T.set_subtensor"),
        (round, "__round__|v is a graph variable"),
    ],
)
def test_uses_that_need_a_value_say_that_there_is_none(use, message):
    with pytest.raises((TypeError, AttributeError), match=message):
        use(T.lscalar("v") if use in (range, int) else T.lvector("v"))


def test_variables_still_index_arrays_of_graphs():
    x, i = T.dvector("x"), T.lscalar("i")
    f = sw.function([x, i], [x[i], x[i:], x[i : i + 1], T.arange(i)])
    picked, rest, one, counted = f(np.arange(4.0), 2)
    assert (picked.item(), rest.tolist(), one.tolist()) == (2, [2, 3], [2])
    assert counted.tolist() == [0, 1]
