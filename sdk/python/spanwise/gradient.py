# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Derivatives of graphs: ``grad``, ``Lop``, ``Rop``, their check ``verify_grad``, and what the
gradient methods of Python ops return. The names are those of ``theano.gradient``."""

from ._names import call_numpys_function as _call_numpys_function
from .graph._gradient import *  # noqa: F403
from .graph._gradient import (
    DisconnectedType as DisconnectedType,
    GradientError as GradientError,
    grad_not_implemented as grad_not_implemented,
    grad_undefined as grad_undefined,
    verify_grad as verify_grad,
)

_call_numpys_function(__name__)  # sw.gradient(a) is numpy.gradient(a)
__all__ = [name for name in globals() if not name.startswith("_")]
