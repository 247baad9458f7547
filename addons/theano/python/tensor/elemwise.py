# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.tensor.elemwise``: classes of ops, which scripts test for and profiles print."""

from .._ops import All, Any_ as Any, CAReduce, DimShuffle, Elemwise, Prod, Sum

__all__ = ["All", "Any", "CAReduce", "DimShuffle", "Elemwise", "Prod", "Sum"]
