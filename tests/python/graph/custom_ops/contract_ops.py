# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Ops that the tests of contracts share."""

import numpy as np

import spanwise as sw

T = sw.tensor


def ones(*shape):
    return np.ones(shape, "float32")


class DoubleOp(sw.Op):
    """2 * x; subclasses define make_thunk, with any accepted signature, or perform."""

    def make_node(self, x):
        x = sw.graph.as_variable(x)
        return sw.Apply(self, [x], [x.type()])

    def bind(self, node, storage_map):
        (x,), (z,) = ([storage_map[v] for v in vs] for vs in (node.inputs, node.outputs))

        def thunk():
            z[0] = np.asarray(x[0]) * 2

        return thunk


class Perform(DoubleOp):
    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = np.asarray(inputs[0]) * 2
        return "ignored"  # the contract allows any return value


def op_with_thunk(work):
    """An op of one input and one output whose thunk calls work(x_cell, z_cell)."""

    class Work(DoubleOp):
        def make_thunk(self, node, storage_map, compute_map, no_recycling):
            x, z = storage_map[node.inputs[0]], storage_map[node.outputs[0]]
            return lambda: work(x, z)

    return Work()
