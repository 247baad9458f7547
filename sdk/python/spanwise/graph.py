# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Graphs: ops, variables and compiled functions, with Theano's interfaces.

``x = sw.tensor.fmatrix("x"); f = sw.function([x], x * 2)``. An op is a class derived from ``Op``
with ``make_node`` and one of ``make_thunk`` and ``perform``; ``kernel_op`` makes one from a CUDA
kernel.
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
from ._graph.compiled import FunctionGraph, Maker, copy_function as copy_function, function
from ._graph.from_function import as_op
from ._graph.from_graph import OpFromGraph
from ._graph.function_options import In, Mode, NanGuardMode, Out
from ._graph.functions import as_variable
from ._graph.kernel_op import KernelOp as KernelOp, kernel_op, kernel_op_counts
from ._graph.op import NativeOp, Op, apply_registered
from ._graph.rewrite import remove_rewrite, rewrite, rewrites
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
    "NanGuardMode",
    "NativeOp",
    "Op",
    "OpFromGraph",
    "Out",
    "SharedVariable",
    "TensorType",
    "Variable",
    "ancestors",
    "as_op",
    "as_variable",
    "clone",
    "contiguous",
    "equal",
    "function",
    "kernel_op",
    "kernel_op_counts",
    "remove_rewrite",
    "rewrite",
    "rewrites",
    "shared",
    "transfer",
    "using",
]


def contiguous(x: Any) -> Variable:
    """`x` in C order: the same memory if it is C-contiguous already, else a copy."""
    return apply_registered("contiguous", x)


def transfer(x: Any, target: Any) -> Variable:
    """`x` copied to the device `target` ("cpu", "cuda:1", or a device); `x` itself if its type is
    already on that device."""
    variable, device = as_variable(x), _core.device(target)
    if variable.type.device == device:
        return variable
    return apply_registered("transfer", variable, device=str(device))
