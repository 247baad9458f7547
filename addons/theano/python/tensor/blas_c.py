# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.tensor.blas_c``: classes of ops, which scripts test for and profiles print."""

from .._ops import CGemv

__all__ = ["CGemv"]
