# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Graphs: ops, variables and compiled functions, with Theano's contracts.

``x = sw.tensor.fmatrix("x"); f = sw.function([x], x * 2)``. An op is a class derived from ``Op`` with
``make_node`` and ``make_thunk`` or ``perform``; ``kernel_op`` makes one of a CUDA kernel in one call.
"""

from __future__ import annotations

from typing import Any

from . import _core
from ._core import (
    Apply,
    CompiledFunction,
    Constant,
    GraphError,
    InputError,
    SharedVariable,
    TensorType,
    Variable,
)
from ._graph.compiled import (
    FunctionGraph,
    In,
    Maker,
    Mode,
    Out,
    copy_function as copy_function,
    function,
    rewrites,
)
from ._graph.kernel_op import kernel_op, kernel_op_counts
from ._graph.op import NativeOp, Op, apply_registered, call_make_thunk as call_make_thunk
from ._graph.shared import shared, using
from ._graph.traversal import ancestors, clone, equal

__all__ = [
    "Apply",
    "CompiledFunction",
    "Constant",
    "FunctionGraph",
    "GraphError",
    "In",
    "InputError",
    "Maker",
    "Mode",
    "NativeOp",
    "Op",
    "Out",
    "SharedVariable",
    "TensorType",
    "Variable",
    "ancestors",
    "as_variable",
    "clone",
    "contiguous",
    "equal",
    "function",
    "kernel_op",
    "kernel_op_counts",
    "rewrites",
    "shared",
    "transfer",
    "using",
]


def as_variable(value: Any, name: str | None = None) -> Variable:
    """The variable itself; of an array of any library or a number, a constant that holds a copy."""
    return _core._as_variable(value, name)


def contiguous(x: Any) -> Variable:
    """The same elements in C order: shared where they are, else copied."""
    return apply_registered("contiguous", x)


def transfer(x: Any, target: Any) -> Variable:
    """`x` on a device (a name such as "cpu" or "cuda:1", or a device)."""
    variable, device = as_variable(x), _core.device(target)
    if variable.type.device == device:
        return variable
    return apply_registered("transfer", variable, device=str(device))
