# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Graphs: ops, variables and compiled functions, with Theano's interfaces.

``x = sw.tensor.fmatrix("x"); f = sw.function([x], x * 2)``. An op is a class derived from ``Op``
with ``make_node`` and one of ``make_thunk`` and ``perform``; ``kernel_op`` makes one from a CUDA
kernel.
"""

from .._core import (
    Apply as Apply,
    CompiledFunction as CompiledFunction,
    Constant as Constant,
    GraphError as GraphError,
    InputError as InputError,
    SharedVariable as SharedVariable,
    TensorType as TensorType,
    Variable as Variable,
)
from ._function import *  # noqa: F403
from ._kernel_op import *  # noqa: F403
from ._op import (
    NativeOp as NativeOp,
    Op as Op,
    apply_registered as apply_registered,
    as_op as as_op,
    recipe_of as recipe_of,
)
from ._op_from_graph import OpFromGraph as OpFromGraph
from ._rewrite import *  # noqa: F403
from ._scan import scan as scan, until as until
from ._tensor import as_variable as as_variable, contiguous as contiguous, transfer as transfer
from ._traversal import *  # noqa: F403
