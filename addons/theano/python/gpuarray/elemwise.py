# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.gpuarray.elemwise``: classes of ops, which scripts test for and profiles print."""

from .._ops import GPU_KINDS

GpuElemwise = GPU_KINDS["cuda"]["Elemwise"]
GpuDimShuffle = GPU_KINDS["cuda"]["DimShuffle"]
GpuCAReduceCuda = GPU_KINDS["cuda"]["CAReduce"]
