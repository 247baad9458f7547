# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Makes the view of a graph, of a compiled function or of variables: the nodes that it has in Theano.

Spanwise's operations take operands of several ranks; where variables are not compiled, Theano gives
each the rank of the result first, by a DimShuffle. A product is a Dot there, whatever the ranks are;
the extents of a Reshape are one vector; and ``inc_subtensor`` is one node.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spanwise.graph import Constant, SharedVariable, ancestors
from spanwise.tensor import constant

from .._graph.op import recipe_of
from ._constant import added_constants, small_constant_key
from ._devices import devices, is_host
from ._index_names import integers_of, new_axes_of, operand_count
from ._op_kinds import GPU_KINDS, DimShuffle, Dot, IncSubtensor, MakeVector, ScalarFromTensor
from ._op_names import describe
from ._view import ScalarType, ViewApply, ViewGraph, ViewType, ViewVariable, type_of


class Builder:
    """Makes the view of a graph from its nodes, given in an order in which inputs come first."""

    merges = True  # whether equal nodes that only Theano has are one

    def __init__(self, device: str) -> None:
        self.device = device
        self.graph = ViewGraph()
        #: Variable -> its view where nodes read it, and, for one without a node, where it is stored.
        self.known: dict[Any, ViewVariable] = {}
        self.leaves: dict[Any, ViewVariable] = {}
        #: Integer or variable of an index -> the scalar of it.
        self.scalars: dict[Any, ViewVariable] = {}

    def transfer(
        self, name: str, variable: ViewVariable, device: str, source: Any = None
    ) -> ViewVariable:
        """Appends HostFromGpu, GpuFromHost or GpuToGpu."""
        kind = ViewType(variable.dtype, variable.broadcastable, device)
        op = GPU_KINDS[devices.dialect][name](_transfer_text(name, device), source and source.op)
        shown = source.outputs[0] if source is not None else variable.source
        node = ViewApply(op, [variable], [(shown, kind)], source)
        self.graph.add(node)
        return node.out

    def leaf(self, variable: Any, value_device: str | None = None) -> ViewVariable:
        """An input, a constant or a shared variable where it is stored: a value without a device on
        `value_device`, by default the graph's. Small equal constants are one, as in Theano."""
        key = small_constant_key(variable) or variable
        if key not in self.leaves:
            has_value = isinstance(variable, (Constant, SharedVariable))
            device = (value_device or self.device) if has_value else "cpu"
            self.leaves[key] = ViewVariable(variable, type_of(variable, device))
        return self.leaves[key]

    def value(self, variable: Any) -> ViewVariable:
        """The variable where nodes read it: an input is copied to the function's device first."""
        if variable not in self.known:
            view = self.leaf(variable)
            device = str(variable.type.device or self.device)
            if is_host(view.type.device) and not is_host(device):
                view = self.transfer("GpuFromHost", view, device)
            self.known[variable] = view
        return self.known[variable]

    def add(self, node: Any) -> None:
        """Adds the view of `node`, whose inputs have been added."""
        if recipe_of(node.op)[0] == "transfer":
            x = node.inputs[0]
            source = self.leaf(x) if x.owner is None else self.value(x)
            target = str(node.outputs[0].type.device)
            name = "HostFromGpu" if is_host(target) else "GpuFromHost"
            if not is_host(source.type.device) and name == "GpuFromHost":
                name = "GpuToGpu"
            self.known[node.outputs[0]] = self.transfer(name, source, target, node)
            return
        outputs = [(v, type_of(v, self.device)) for v in node.outputs]
        op = self.described(node, not is_host(outputs[0][1].device))
        view = ViewApply(op, self.inputs_of(node, op), outputs, node)
        self.graph.add(view)
        self.known.update(zip(node.outputs, view.outputs, strict=True))

    def described(self, node: Any, on_gpu: bool) -> Any:
        """The op of `node` as Theano shows it."""
        return describe(node, on_gpu, devices.dialect)

    def inputs_of(self, node: Any, op: Any) -> list[ViewVariable]:
        """The inputs of `node`, with the constants that are inputs in Theano only."""
        entries = integers_of(node)
        count = len(node.inputs) if entries is None else operand_count(node)
        inputs = [self.value(v) for v in node.inputs[:count]]
        # The integers of an index stay on the host.
        inputs += [self.leaf(v) if v.owner is None else self.value(v) for v in node.inputs[count:]]
        if entries is not None:
            of_index = iter(inputs[count:])
            order = new_axes_of(node)
            if order is not None and not isinstance(op, _dimshuffle_at(inputs[0])):
                inputs[0] = self.dimshuffled(inputs[0], order)
            listed = [each for entry in entries for each in entry if each]
            integers = [self.scalar(next(of_index) if i == "?" else int(i)) for i in listed]
            return [*inputs[:count], *integers]
        before, after = added_constants(node)
        return [*map(self.on_host, before), *inputs, *map(self.on_host, after)]

    def add_result(self, op: Any, inputs: list[ViewVariable], kind: ViewType) -> ViewVariable:
        """The result of a node that only Theano has."""
        node = ViewApply(op, inputs, [(inputs[0].source, kind)])
        self.graph.add(node)
        return node.out

    def dimshuffled(self, x: ViewVariable, order: Sequence[Any]) -> ViewVariable:
        """`x` with the axes `order`, "x" for a new one."""
        broadcastable = [axis == "x" or x.broadcastable[axis] for axis in order]
        kind = ViewType(x.dtype, broadcastable, x.type.device)
        prefix = "Inplace" if is_host(x.type.device) else "Gpu"
        text = f"{prefix}DimShuffle{{{','.join(map(str, order))}}}"
        return self.add_result(_dimshuffle_at(x)(text), [x], kind)

    def on_host(self, value: Any) -> ViewVariable:
        """A constant on the host."""
        return self.leaf(constant(value), "cpu")

    def scalar(self, value: Any) -> ViewVariable:
        """An integer of an index: a constant, or a variable of rank 0 as a scalar."""
        if value in self.scalars and self.merges:
            return self.scalars[value]
        if isinstance(value, int):
            scalar = ViewVariable(constant(value), ScalarType("int64"))
        else:
            op = ScalarFromTensor("ScalarFromTensor")
            scalar = self.add_result(op, [value], ScalarType(value.dtype))
        self.scalars[value] = scalar
        return scalar


def _dimshuffle_at(x: ViewVariable) -> Any:
    """The class of DimShuffles of variables on the device of `x`."""
    return DimShuffle if is_host(x.type.device) else GPU_KINDS[devices.dialect]["DimShuffle"]


def _transfer_text(name: str, device: str) -> str:
    if devices.dialect == "gpu":
        return name
    context = "(gpuarray)" if name == "HostFromGpu" else f"<{devices.context_of(device)}>"
    return name + context


def of_function(compiled: Any, on_device: Sequence[bool]) -> ViewGraph:
    """The view of a compiled function; `on_device` says which outputs stay on the device."""
    builder = Builder(str(compiled.device))
    real = compiled.maker.fgraph
    builder.graph.inputs = [builder.leaf(v) for v in real.inputs]
    for node in real.toposort():
        builder.add(node)
    for i, output in enumerate(real.outputs):
        if i >= len(on_device) or on_device[i]:
            shown = builder.value(output)
        else:
            shown = builder.known.get(output) or builder.leaf(output)
            if not is_host(shown.type.device):
                shown = builder.transfer("HostFromGpu", shown, "cpu")
        builder.graph.outputs.append(shown)
    return builder.graph


#: Classes of products of compiled graphs, which are Dot in others.
_PRODUCTS = ("CGemv", "Dot22", "GpuGemv", "GpuDot22")


class _VariablesBuilder(Builder):
    """Makes the view of variables that are not compiled."""

    merges = False

    def described(self, node: Any, on_gpu: bool) -> Any:
        op = super().described(node, on_gpu)
        if type(op).__name__ in _PRODUCTS:
            return Dot("dot", op.native)
        if isinstance(op, IncSubtensor) and _increment_of(node) is not None:
            return IncSubtensor(str(op).replace("{Set;", "{Inc;"), op.native)
        return op

    def inputs_of(self, node: Any, op: Any) -> list[ViewVariable]:
        inputs = super().inputs_of(node, op)
        kind = type(op).__name__
        if kind.endswith("Elemwise"):
            rank = node.outputs[0].ndim
            return [self._of_rank(x, rank) for x in inputs]
        if kind == "Reshape" and len(node.inputs) > 1:
            extents = ViewType("int64", (False,), "cpu")
            op = MakeVector("MakeVector{dtype='int64'}")
            return [inputs[0], self.add_result(op, inputs[1:], extents)]
        if isinstance(op, IncSubtensor) and (increment := _increment_of(node)) is not None:
            inputs[1] = self.value(increment)
        return inputs

    def _of_rank(self, x: ViewVariable, rank: int) -> ViewVariable:
        """`x` with new axes in front."""
        if x.ndim >= rank:
            return x
        return self.dimshuffled(x, [*["x"] * (rank - x.ndim), *range(x.ndim)])


def _increment_of(node: Any) -> Any:
    """y if `node` sets ``x[i]`` to ``x[i] + y``, which is how inc_subtensor is made; else None."""
    name, settings = recipe_of(node.op)
    value = node.inputs[1].owner
    if value is None or recipe_of(value.op)[0] != "add" or name != "set_subtensor":
        return None
    read = value.inputs[0].owner
    if read is None or recipe_of(read.op) != ("subtensor", settings):
        return None
    indexed = [node.inputs[0], *node.inputs[2:]]  # without the new value
    is_same = all(a is b for a, b in zip(read.inputs, indexed, strict=True))
    return value.inputs[1] if is_same else None


def of_variables(variables: Sequence[Any]) -> ViewGraph:
    """The view of variables that are not compiled; what has no device is shown on the host."""
    builder = _VariablesBuilder("cpu")
    for node in ancestors(list(variables)):
        builder.add(node)
    builder.graph.outputs = [builder.known.get(v) or builder.leaf(v) for v in variables]
    return builder.graph
