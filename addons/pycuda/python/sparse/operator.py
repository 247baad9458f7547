# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The names of ``pycuda.sparse.operator``: operators with a dtype, a shape and a call."""

__all__ = ["DiagonalPreconditioner", "IdentityOperator", "OperatorBase"]


class OperatorBase:
    """Base class of operators."""


class IdentityOperator(OperatorBase):
    def __init__(self, dtype, n):
        self.dtype, self.shape = dtype, (n, n)

    def __call__(self, operand):
        return operand


class DiagonalPreconditioner(OperatorBase):
    """Multiplies with a vector, the diagonal."""

    def __init__(self, diagonal):
        self.diagonal, self.dtype = diagonal, diagonal.dtype
        self.shape = diagonal.shape * 2

    def __call__(self, operand):
        return self.diagonal * operand
