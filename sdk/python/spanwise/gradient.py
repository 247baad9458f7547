# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Derivatives of graphs: ``grad``, ``Lop``, ``Rop``, their check ``verify_grad``, and what the
gradient methods of Python ops return. The names are those of ``theano.gradient``."""

from ._names import explain_call as _explain_call
from .graph._gradient import *  # noqa: F403
from .graph._gradient import (
    DisconnectedType as DisconnectedType,
    GradientError as GradientError,
    grad_not_implemented as grad_not_implemented,
    grad_undefined as grad_undefined,
    verify_grad as verify_grad,
)

_explain_call(__name__, "sw.gradient.grad(cost, x) differentiates a graph; see also sw.diff(a)")
__all__ = [name for name in globals() if not name.startswith("_")]
