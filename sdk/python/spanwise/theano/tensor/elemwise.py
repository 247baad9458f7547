# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.tensor.elemwise``: the classes of ops that compiled programs show."""

from .._op_kinds import All, Any_ as Any, CAReduce, DimShuffle, Elemwise, Prod, Sum

__all__ = ["All", "Any", "CAReduce", "DimShuffle", "Elemwise", "Prod", "Sum"]
