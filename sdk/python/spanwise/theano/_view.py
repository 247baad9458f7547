# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The graph of a compiled function, or of variables, with Theano's types and op names.

Spanwise copies arguments to the device and results to the host outside of its program; here these
copies are nodes, GpuFromHost and HostFromGpu, as in Theano.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spanwise.graph import Constant, NativeOp, SharedVariable

from ._constant import added_constants, constant_text
from ._devices import devices, is_host
from ._op_names import GPU_KINDS, describe

_RANKS = ("scalar", "vector", "matrix", "3D", "4D", "5D")
_NAMED = {(True, False): "row", (False, True): "col"}


class ViewType:
    """A type with Theano's text: dtype, broadcastable axes, and the device."""

    def __init__(self, dtype: Any, broadcastable: Sequence[bool], device: Any) -> None:
        self.dtype = str(dtype)
        self.broadcastable = tuple(broadcastable)
        self.ndim = len(self.broadcastable)
        self.device = str(device)

    def __str__(self) -> str:
        if not is_host(self.device) and devices.dialect == "cuda":
            context = devices.context_of(self.device)
            if context is None:
                return f"GpuArray<{self.dtype}>"
            return f"GpuArrayType<{context}>({self.dtype}, {self.broadcastable})"
        shape: Any = _NAMED.get(self.broadcastable, self.broadcastable)
        if not any(self.broadcastable) and self.ndim < len(_RANKS):
            shape = _RANKS[self.ndim]
        name = "TensorType" if is_host(self.device) else "CudaNdarrayType"
        return f"{name}({self.dtype}, {shape})"

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ViewType) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((self.dtype, self.broadcastable, self.device))


def type_of(variable: Any, device: Any = None) -> ViewType:
    """The type of `variable`; `device` is used if its own type names none."""
    own = variable.type.device
    return ViewType(variable.dtype, variable.type.broadcastable, own or device or "cpu")


class ViewVariable:
    """A variable of a view graph; `source` is the variable that it shows."""

    def __init__(
        self, source: Any, type: ViewType, owner: ViewApply | None = None, index: int = 0
    ) -> None:
        self.source, self.type, self.owner = source, type, owner
        self.index = index if owner is not None else None
        self.name = source.name if owner is None or not owner.is_added else None
        if owner is not None and self.name is None:
            self.name = _name_of_transposed(owner)
        self.tag = source.tag
        self.dtype, self.ndim, self.broadcastable = type.dtype, type.ndim, type.broadcastable

    def __str__(self) -> str:
        if self.name is not None:
            return self.name
        if self.owner is not None:
            return f"{self.owner.op}.{self.index}"
        if isinstance(self.source, Constant):
            kinds = {"gpu": "CudaNdarrayConstant", "cuda": "GpuArrayConstant"}
            kind = "TensorConstant" if is_host(self.type.device) else kinds[devices.dialect]
            return constant_text(self.source.value.numpy(), kind)
        return f"<{self.type}>"

    __repr__ = __str__


class ViewApply:
    """A node of a view graph; `source` is the node that it shows, None for a node that only Theano
    has."""

    def __init__(
        self,
        op: Any,
        inputs: list[ViewVariable],
        outputs: Sequence[tuple[Any, ViewType]],
        source: Any = None,
    ) -> None:
        self.op, self.inputs, self.source = op, inputs, source
        self.is_added = source is None
        self.outputs = [ViewVariable(v, kind, self, i) for i, (v, kind) in enumerate(outputs)]
        self.nin, self.nout = len(self.inputs), len(self.outputs)
        self.out = self.outputs[0]
        self.tag = source.tag if source is not None else self.out.tag

    def __str__(self) -> str:
        return f"{self.op}({', '.join(map(str, self.inputs))})"

    __repr__ = __str__


def _name_of_transposed(node: ViewApply) -> str | None:
    """``x.T`` for an output of a node that reverses the axes of a variable x."""
    if node.is_added or not isinstance(node.source.op, NativeOp) or not node.source.op.recipe:
        return None
    name, settings = node.source.op.recipe
    axes = list(reversed(range(node.inputs[0].ndim)))
    if name != "dimshuffle" or settings["order"] != axes or not node.inputs[0].name:
        return None
    return f"{node.inputs[0].name}.T"


class ViewGraph:
    """``f.maker.fgraph``: `outputs` include the new values of updates."""

    def __init__(self) -> None:
        self.inputs: list[ViewVariable] = []
        self.outputs: list[ViewVariable] = []
        self._order: list[ViewApply] = []

    def toposort(self) -> list[ViewApply]:
        """The nodes in execution order."""
        return list(self._order)

    @property
    def apply_nodes(self) -> set[ViewApply]:
        return set(self._order)

    @property
    def variables(self) -> set[ViewVariable]:
        found = {*self.inputs, *self.outputs}
        for node in self._order:
            found.update(node.inputs, node.outputs)
        return found


class Builder:
    """Makes the view of a graph from its nodes, given in an order in which inputs come first."""

    def __init__(self, device: str) -> None:
        self.device = device
        self.graph = ViewGraph()
        self.known: dict[Any, ViewVariable] = {}
        self.leaves: dict[Any, ViewVariable] = {}

    def transfer(
        self, name: str, variable: ViewVariable, device: str, source: Any = None
    ) -> ViewVariable:
        """Appends HostFromGpu, GpuFromHost or GpuToGpu."""
        kind = ViewType(variable.dtype, variable.broadcastable, device)
        op = GPU_KINDS[devices.dialect][name](_transfer_text(name, device), source and source.op)
        shown = source.outputs[0] if source is not None else variable.source
        node = ViewApply(op, [variable], [(shown, kind)], source)
        self.graph._order.append(node)
        return node.out

    def leaf(self, variable: Any) -> ViewVariable:
        """An input, a constant or a shared variable where it is stored."""
        if variable not in self.leaves:
            stored = isinstance(variable, (Constant, SharedVariable))
            device = (self.device if stored else "cpu") if variable.type.device is None else None
            self.leaves[variable] = ViewVariable(variable, type_of(variable, device))
        return self.leaves[variable]

    def value(self, variable: Any) -> ViewVariable:
        """The variable where nodes read it: an input is copied to the function's device first."""
        if variable not in self.known:
            made = self.leaf(variable)
            wanted = str(variable.type.device or self.device)
            if is_host(made.type.device) and not is_host(wanted):
                made = self.transfer("GpuFromHost", made, wanted)
            self.known[variable] = made
        return self.known[variable]

    def add(self, node: Any) -> None:
        recipe = getattr(node.op, "recipe", None)
        if recipe is not None and recipe[0] == "transfer":
            source = (
                self.leaf(node.inputs[0])
                if node.inputs[0].owner is None
                else self.value(node.inputs[0])
            )
            target = str(node.outputs[0].type.device)
            name = "HostFromGpu" if is_host(target) else "GpuFromHost"
            if not is_host(source.type.device) and name == "GpuFromHost":
                name = "GpuToGpu"
            self.known[node.outputs[0]] = self.transfer(name, source, target, node)
            return
        outputs = [(v, type_of(v, self.device)) for v in node.outputs]
        op = self.described(node, not is_host(outputs[0][1].device))
        made = ViewApply(op, self.inputs_of(node, op), outputs, node)
        self.graph._order.append(made)
        self.known.update(zip(node.outputs, made.outputs, strict=True))

    def described(self, node: Any, on_gpu: bool) -> Any:
        """The op of `node` as Theano shows it."""
        return describe(node, on_gpu, devices.dialect)

    def inputs_of(self, node: Any, op: Any) -> list[ViewVariable]:
        """The inputs of `node`, with the constants that are inputs in Theano only."""
        inputs = [self.value(v) for v in node.inputs]
        before, after = added_constants(node)
        return [*map(_on_host, before), *inputs, *map(_on_host, after)]


def _on_host(constant: Any) -> ViewVariable:
    return ViewVariable(constant, type_of(constant, "cpu"))


def _transfer_text(name: str, device: str) -> str:
    if devices.dialect == "gpu":
        return name
    return (
        "HostFromGpu(gpuarray)"
        if name == "HostFromGpu"
        else f"{name}<{devices.context_of(device)}>"
    )


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
