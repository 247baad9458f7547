# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Derivatives of graphs: ``grad``, ``Lop``, ``Rop``, their check ``verify_grad``, and what the
gradient methods of Python ops return. The names are those of ``theano.gradient``."""

from ._graph.gradient import Lop, Rop, consider_constant, disconnected_grad, grad, zero_grad
from ._graph.op_gradient import DisconnectedType, grad_not_implemented, grad_undefined
from ._graph.verify_grad import GradientError, verify_grad

__all__ = [
    "DisconnectedType",
    "GradientError",
    "Lop",
    "Rop",
    "consider_constant",
    "disconnected_grad",
    "grad",
    "grad_not_implemented",
    "grad_undefined",
    "verify_grad",
    "zero_grad",
]
