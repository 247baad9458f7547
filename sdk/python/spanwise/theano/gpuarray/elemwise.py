# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.gpuarray.elemwise``: the classes of ops that compiled programs show."""

from .._op_kinds import GPU_KINDS

GpuElemwise = GPU_KINDS["cuda"]["Elemwise"]
GpuDimShuffle = GPU_KINDS["cuda"]["DimShuffle"]
GpuCAReduceCuda = GPU_KINDS["cuda"]["CAReduce"]
