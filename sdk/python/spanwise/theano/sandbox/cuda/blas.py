# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.sandbox.cuda.blas``: classes of ops, which scripts test for and profiles print."""

from ..._op_kinds import GPU_KINDS

GpuGemv = GPU_KINDS["gpu"]["CGemv"]
GpuGemm = GPU_KINDS["gpu"]["Gemm"]
GpuDot22 = GPU_KINDS["gpu"]["Dot22"]
GpuBatchedDot = GPU_KINDS["gpu"]["BatchedDot"]
