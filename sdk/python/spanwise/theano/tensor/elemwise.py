# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.tensor.elemwise``: the classes of ops that compiled programs show."""

from .._op_names import CAReduce, DimShuffle, Elemwise, Sum

__all__ = ["CAReduce", "DimShuffle", "Elemwise", "Sum"]
