# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The graph of variables that are not compiled, with the nodes that it has in Theano.

Spanwise's operations take operands of several ranks; Theano gives each the rank of the result
first, by a DimShuffle. A product is a Dot there, whatever the ranks are; the extents of a Reshape
are one vector; and ``inc_subtensor`` is one node.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spanwise.graph import NativeOp, ancestors

from ._op_kinds import Dot, IncSubtensor, MakeVector
from ._view import ViewGraph, ViewType, ViewVariable
from ._view_builder import Builder

_PRODUCTS = ("CGemv", "Dot22", "GpuGemv", "GpuDot22")


class _VariablesBuilder(Builder):
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
            return [self._of_rank(given, rank) for given in inputs]
        if kind == "Reshape" and len(node.inputs) > 1:
            extents = ViewType("int64", (False,), "cpu")
            made = self.added(MakeVector("MakeVector{dtype='int64'}"), inputs[1:], extents)
            return [inputs[0], made]
        if isinstance(op, IncSubtensor) and (increment := _increment_of(node)) is not None:
            inputs[1] = self.value(increment)
        return inputs

    def _of_rank(self, given: ViewVariable, rank: int) -> ViewVariable:
        """`given` with new axes in front."""
        if given.ndim >= rank:
            return given
        return self.dimshuffled(given, [*["x"] * (rank - given.ndim), *range(given.ndim)])


def _increment_of(node: Any) -> Any:
    """y if `node` sets ``x[i]`` to ``x[i] + y``, which is how inc_subtensor is made; else None."""
    value = node.inputs[1].owner
    if value is None or _recipe(value)[0] != "add" or _recipe(node)[0] != "set_subtensor":
        return None
    place = value.inputs[0].owner
    if place is None or _recipe(place) != ("subtensor", _recipe(node)[1]):
        return None
    given = [node.inputs[0], *node.inputs[2:]]
    same = all(a is b for a, b in zip(place.inputs, given, strict=True))
    return value.inputs[1] if same else None


def _recipe(node: Any) -> tuple[str, Any]:
    return (isinstance(node.op, NativeOp) and node.op.recipe) or ("", {})


def of_variables(variables: Sequence[Any]) -> ViewGraph:
    """The view of variables that are not compiled; what has no device is shown on the host."""
    builder = _VariablesBuilder("cpu")
    for node in ancestors(list(variables)):
        builder.add(node)
    builder.graph.outputs = [builder.known.get(v) or builder.leaf(v) for v in variables]
    return builder.graph
