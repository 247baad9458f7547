# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Graphs: ops, variables and compiled functions, with Theano's interfaces.

``x = sw.tensor.fmatrix("x"); f = sw.function([x], x * 2)``. An op is a class derived from ``Op``
with ``make_node`` and one of ``make_thunk`` and ``perform``; ``kernel_op`` makes one from a CUDA
kernel.
"""

from . import _core
from ._core import (
    Apply as Apply,
    CompiledFunction as CompiledFunction,
    Constant as Constant,
    GraphError as GraphError,
    InputError as InputError,
    SharedVariable as SharedVariable,
    TensorType as TensorType,
    Variable as Variable,
)
from ._graph.compiled import *  # noqa: F403
from ._graph.from_function import as_op as as_op
from ._graph.from_graph import OpFromGraph as OpFromGraph
from ._graph.function_options import *  # noqa: F403
from ._graph.functions import as_variable as as_variable
from ._graph.kernel_op import *  # noqa: F403
from ._graph.op import NativeOp as NativeOp, Op as Op, apply_registered as apply_registered
from ._graph.rewrite import *  # noqa: F403
from ._graph.scan import scan as scan
from ._graph.shared import shared as shared, using as using
from ._graph.traversal import *  # noqa: F403


def contiguous(x: object) -> Variable:
    """`x` in C order: the same memory if it is C-contiguous already, else a copy."""
    return apply_registered("contiguous", x)


def transfer(x: object, target: object) -> Variable:
    """`x` copied to the device `target` ("cpu", "cuda:1", or a device); `x` itself if its type is
    already on that device."""
    variable, device = as_variable(x), _core.device(target)
    if variable.type.device == device:
        return variable
    return apply_registered("transfer", variable, device=str(device))
