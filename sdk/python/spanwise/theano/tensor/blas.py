# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.tensor.blas``: the classes of ops that compiled programs show."""

from .._op_kinds import BatchedDot, Dot22, Gemm

__all__ = ["BatchedDot", "Dot22", "Gemm"]
