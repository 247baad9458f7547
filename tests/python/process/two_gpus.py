# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""A kernel that delays work, for tests of two GPUs."""

import numpy as np

SPIN = """
__global__ void late(float *x, int n, float value, long long ticks) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const long long start = clock64();
  while (clock64() - start < ticks) {}
  if (i < n) x[i] += value;
}
"""

TICKS = np.int64(50_000_000)  # some 30 ms, longer than all work that is queued after it takes


def numbers(shape=(5000,), dtype="float32", seed=1):
    return np.random.default_rng(seed).integers(-50, 50, shape).astype(dtype)
