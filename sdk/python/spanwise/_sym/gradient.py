# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Derivatives of symbolic arrays: those of the graph, written as NumPy calls again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import _core
from .._core import Constant, NotSupportedError, Variable
from .._graph import gradient
from .._graph.traversal import ancestors
from .array import SymArray
from .program import program_of
from .record import FUNCTIONS, record
from .tree import Node, Symbolic


def grad(cost: SymArray, wrt: Any) -> Any:
    """The derivatives of the scalar `cost` with respect to `wrt`, a symbolic array or a list of
    them: symbolic arrays of the same shape and dtype, a list for a list.

    `wrt` must be part of the expression of `cost`. Raises GraphError for a cost with axes and for
    an array that `cost` does not depend on, NotSupportedError for a derivative that NumPy's
    functions do not express.
    """
    listed = list(wrt) if isinstance(wrt, Sequence) else [wrt]
    nodes = {}
    program = program_of(cost._node)
    for node in (*program.leaves.values(), *program.steps.values()):
        nodes[node.variable] = node
    derivatives = gradient.grad(cost._node.variable, [x._node.variable for x in listed])
    for x in listed:
        nodes.setdefault(x._node.variable, x._node)
    for apply in ancestors(derivatives, nodes):
        nodes[apply.outputs[0]] = _node_of(apply, nodes)
    made = [SymArray.wrap(_operand(v, nodes)) for v in derivatives]
    return made if isinstance(wrt, Sequence) else made[0]


def _operand(x: Variable, nodes: dict[Variable, Node]) -> Any:
    if x in nodes:
        return nodes[x]
    if not isinstance(x, Constant):
        raise NotSupportedError(f"sym.grad: {x} is no part of the expression")
    value = _core.to_numpy(x.data, copyif=True)
    nodes[x] = record("positive", value) if value.ndim else value[()]
    return nodes[x]


class _Wrapped(Symbolic):
    """A node as an argument of record()."""

    __slots__ = ()

    def __init__(self, node: Node) -> None:
        self._node = node


def _node_of(apply: Any, nodes: dict[Variable, Node]) -> Any:
    """The NumPy call of one node of a graph."""
    recipe = getattr(apply.op, "recipe", None)
    name, options = recipe if recipe else (str(apply.op), {})
    inputs = [_operand(x, nodes) for x in apply.inputs]
    first, *rest = [_Wrapped(x) if isinstance(x, Node) else x for x in inputs]
    if name == "dimshuffle":
        return _dimshuffle(first, options["order"])
    if name in ("reshape", "broadcast_to"):
        shape = apply.outputs[0].type.shape
        return record(name, first, shape)
    if name == "cast":
        return record("astype", first, options["dtype"])
    if name in FUNCTIONS:
        return record(name, first, *rest, **options)
    raise NotSupportedError(
        f"sym.grad: the derivative needs {apply.op}, which has no counterpart among NumPy's functions "
        "here; use spanwise.tensor.grad on graph variables"
    )


def _dimshuffle(x: Any, order: list[int]) -> Any:
    kept = [i for i in order if i >= 0]
    node = record("transpose", x, tuple(kept)) if kept != sorted(kept) else x
    shape = [1 if i < 0 else np.shape(x)[i] for i in order]
    return record("reshape", node if isinstance(node, Symbolic) else _Wrapped(node), tuple(shape))
