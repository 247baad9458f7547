# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Python ops for tests of graphs."""

import spanwise as sw


class Twice(sw.Op):
    """x * 2 in the buffer of the last call, if its shape fits."""

    __props__ = ()

    def make_node(self, x):
        return sw.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        (x,) = inputs
        z = output_storage[0]
        if z[0] is None or z[0].shape != x.shape:
            z[0] = sw.empty(x.shape, dtype=x.dtype, device=x.device)
        z[0][...] = x * 2


class Negated(sw.Op):
    """-x, written over x."""

    __props__ = ()
    destroy_map = {0: [0]}

    def make_node(self, x):
        return sw.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        inputs[0][...] = -inputs[0]
        output_storage[0][0] = inputs[0]


class AddOne(sw.Op):
    """x + 1, written over x. Without __props__, so no two instances are equal."""

    destroy_map = {0: [0]}

    def make_node(self, x):
        return sw.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        inputs[0][...] += 1
        output_storage[0][0] = inputs[0]


class Increased(AddOne):
    """AddOne whose instances are all equal."""

    __props__ = ()


class Flipped(sw.Op):
    """x with one axis reversed, a view."""

    __props__ = ("axis",)
    view_map = {0: [0]}

    def __init__(self, axis):
        self.axis = axis

    def make_node(self, x):
        return sw.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        key = (slice(None, None, -1), slice(None))
        output_storage[0][0] = inputs[0][key if self.axis == 0 else key[::-1]]


class SumAndDifference(sw.Op):
    """x + y and x - y, of which one may stay unused."""

    __props__ = ()

    def make_node(self, x, y):
        return sw.Apply(self, [x, y], [x.type(), x.type()])

    def perform(self, node, inputs, output_storage):
        x, y = inputs
        output_storage[0][0] = x + y
        output_storage[1][0] = x - y


class IfElse(sw.Op):
    """The second or the third input, chosen by the first; the other is not computed."""

    __props__ = ()

    def make_node(self, condition, yes, no):
        return sw.Apply(self, [condition, yes, no], [yes.type()])

    def make_thunk(self, node, storage_map, compute_map, no_recycling, impl=None):
        cells = [storage_map[v] for v in node.inputs]
        computed = [compute_map[v] for v in node.inputs]
        z, done = storage_map[node.outputs[0]], compute_map[node.outputs[0]]

        def thunk():
            if not computed[0][0]:
                return [0]
            branch = 1 if cells[0][0].item() else 2
            if not computed[branch][0]:
                return [branch]
            z[0] = cells[branch][0].copy()
            done[0] = 1
            return []

        thunk.lazy = True
        return thunk


class SumAndDifferenceInPlace(sw.Op):
    """x + y and x - y, each written over one of the two."""

    __props__ = ()
    destroy_map = {0: [0], 1: [1]}

    def make_node(self, x, y):
        return sw.Apply(self, [x, y], [x.type(), y.type()])

    def perform(self, node, inputs, output_storage):
        x, y = inputs
        total, difference = x + y, x - y
        x[...], y[...] = total, difference
        output_storage[0][0], output_storage[1][0] = x, y


class AddAndReverse(sw.Op):
    """x + y in place of x, and y reversed, which is a view."""

    __props__ = ()
    destroy_map = {0: [0]}
    view_map = {1: [1]}

    def make_node(self, x, y):
        return sw.Apply(self, [x, y], [x.type(), y.type()])

    def perform(self, node, inputs, output_storage):
        x, y = inputs
        x[...] += y
        output_storage[0][0], output_storage[1][0] = x, y[::-1]


class FourParameterThunk(sw.Op):
    """x - 0.5 by a make_thunk of four parameters, whose thunk replaces the value of its cell."""

    __props__ = ()

    def make_node(self, x):
        return sw.Apply(self, [x], [x.type()])

    def make_thunk(self, node, storage_map, compute_map, no_recycling):
        source, result = storage_map[node.inputs[0]], storage_map[node.outputs[0]]

        def thunk():
            result[0] = source[0] - 0.5

        return thunk
