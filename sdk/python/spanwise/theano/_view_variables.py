# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The graph of variables that are not compiled, with the nodes that it has in Theano.

Spanwise's operations take operands of several ranks; Theano gives each the rank of the result
first, by a DimShuffle. A product is a Dot there, whatever the ranks are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spanwise.graph import ancestors

from ._devices import devices, is_host
from ._op_names import GPU_KINDS, DimShuffle, Dot
from ._view import Builder, ViewApply, ViewGraph, ViewType, ViewVariable

_PRODUCTS = ("CGemv", "Dot22", "GpuGemv", "GpuDot22")


class _VariablesBuilder(Builder):
    def described(self, node: Any, on_gpu: bool) -> Any:
        op = super().described(node, on_gpu)
        return Dot("dot", op.native) if type(op).__name__ in _PRODUCTS else op

    def inputs_of(self, node: Any, op: Any) -> list[ViewVariable]:
        inputs = super().inputs_of(node, op)
        if not type(op).__name__.endswith("Elemwise"):
            return inputs
        rank = node.outputs[0].ndim
        return [self._of_rank(given, rank) if given.ndim < rank else given for given in inputs]

    def _of_rank(self, given: ViewVariable, rank: int) -> ViewVariable:
        """`given` with new axes in front."""
        added = rank - given.ndim
        order = ",".join(["x"] * added + [str(axis) for axis in range(given.ndim)])
        kind = ViewType(given.dtype, (True,) * added + given.broadcastable, given.type.device)
        on_host = is_host(given.type.device)
        op = (
            DimShuffle(f"InplaceDimShuffle{{{order}}}")
            if on_host
            else GPU_KINDS[devices.dialect]["DimShuffle"](f"GpuDimShuffle{{{order}}}")
        )
        node = ViewApply(op, [given], [(given.source, kind)])
        self.graph._order.append(node)
        return node.out


def of_variables(variables: Sequence[Any]) -> ViewGraph:
    """The view of variables that are not compiled; what has no device is shown on the host."""
    builder = _VariablesBuilder("cpu")
    for node in ancestors(list(variables)):
        builder.add(node)
    builder.graph.outputs = [builder.known.get(v) or builder.leaf(v) for v in variables]
    return builder.graph
