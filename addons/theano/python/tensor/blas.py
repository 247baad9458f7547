# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.tensor.blas``: classes of ops, which scripts test for and profiles print."""

from .._ops import BatchedDot, Dot22, Gemm

__all__ = ["BatchedDot", "Dot22", "Gemm"]
