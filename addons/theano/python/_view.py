# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Variables, nodes and graphs with Theano's types and op names.

Spanwise copies arguments to the device and results to the host outside of its program; here these
copies are nodes, GpuFromHost and HostFromGpu, as in Theano.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spanwise.graph import Constant, FunctionGraph

from .._graph.op import recipe_of
from ._constant import constant_text
from ._devices import devices, is_host

_NAMES_BY_RANK = ("scalar", "vector", "matrix", "3D", "4D", "5D")
_NAMED_PATTERNS = {(True, False): "row", (False, True): "col"}


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
        pattern: Any = self.broadcastable
        shape: Any = _NAMED_PATTERNS.get(pattern, pattern)
        if not any(self.broadcastable) and self.ndim < len(_NAMES_BY_RANK):
            shape = _NAMES_BY_RANK[self.ndim]
        name = "TensorType" if is_host(self.device) else "CudaNdarrayType"
        return f"{name}({self.dtype}, {shape})"

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((self.dtype, self.broadcastable, self.device))


class ScalarType(ViewType):
    """The type of an integer in an index."""

    def __init__(self, dtype: Any) -> None:
        super().__init__(dtype, (), "cpu")

    def __str__(self) -> str:
        return self.dtype


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
        if isinstance(self.type, ScalarType):
            return f"Constant{{{self.source.value.numpy()}}}"
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
    name, settings = recipe_of(None if node.is_added else node.source.op)
    axes = list(reversed(range(node.inputs[0].ndim)))
    if name != "dimshuffle" or settings["order"] != axes or not node.inputs[0].name:
        return None
    return f"{node.inputs[0].name}.T"


class ViewGraph(FunctionGraph):
    """``f.maker.fgraph``: `outputs` include the new values of updates."""

    inputs: list[Any]
    outputs: list[Any]

    def __init__(self) -> None:
        super().__init__([], [], [])

    def add(self, node: ViewApply) -> None:
        """Adds a node at the end of the order."""
        self._nodes.append(node)  # type: ignore[arg-type]
