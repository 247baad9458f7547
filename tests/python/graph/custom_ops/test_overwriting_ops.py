# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Ops that overwrite inputs or return views of them."""

import numpy as np
import pytest
from python.graph.custom_ops.contract_ops import DoubleOp, T, ones, op_with_thunk

import spanwise as sw


def test_undeclared_view_of_an_input_does_not_let_results_share_memory():
    def alias(x, z):
        z[0] = x[0]

    def transposed(x, z):
        z[0] = np.asarray(x[0]).T

    x = T.fmatrix("x")
    for work in (alias, transposed):
        op = op_with_thunk(work)
        f = sw.function([x], [op(x), op(x + 1)], device="cpu")
        argument = ones(2, 2)
        first, second = f(argument)
        first[...] = -1
        f(argument * 7)
        assert np.array_equal(argument, ones(2, 2))
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
    argument = np.array([[1], [2]], "float32")
    for _ in range(2):
        results = [np.asarray(result).ravel().tolist() for result in f(argument)]
        assert results == [[11, 21], [15, 25], [27, 17], [2, 3]]
    assert argument.ravel().tolist() == [1, 2]
    assert any("Copy" in str(node) for node in f.maker.fgraph.toposort())


class Either(sw.Op):
    """Input `chosen`, 0 or 1, as a view."""

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
        argument = np.full((2, 1), value, "float32")
        results = [np.asarray(result).ravel().tolist() for result in f(argument, argument.copy())]
        assert results == [[value + 1] * 2, [value * 2] * 2]
        f(argument.copy(), argument)
        assert argument.ravel().tolist() == [value] * 2


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
    argument = np.array([[1], [2]], "float32")
    for _ in range(2):
        results = [np.asarray(result).ravel().tolist() for result in f(argument)]
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
