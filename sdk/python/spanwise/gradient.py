# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Derivatives of graphs: ``grad``, ``Lop``, ``Rop``, their check ``verify_grad``, and what the
gradient methods of Python ops return. The names are those of ``theano.gradient``."""

from .graph._gradient import *  # noqa: F403
from .graph._gradient import (
    DisconnectedType as DisconnectedType,
    GradientError as GradientError,
    grad_not_implemented as grad_not_implemented,
    grad_undefined as grad_undefined,
    verify_grad as verify_grad,
)

__all__ = [name for name in globals() if not name.startswith("_")]
