# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The names of ``pycuda.sparse.packeted``."""

from .coordinate import CoordinateSpMV

__all__ = ["PacketedSpMV"]


class PacketedSpMV(CoordinateSpMV):
    """As CoordinateSpMV. PyCUDA reorders the rows into packets, by a graph of `mat` that
    `is_symmetric` describes; here they keep their order, and permute() returns the same array."""

    def __init__(self, mat, is_symmetric, dtype):
        super().__init__(mat, dtype)

    def permute(self, x):
        return x

    unpermute = permute
