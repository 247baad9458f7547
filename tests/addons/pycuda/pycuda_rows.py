# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""A kernel and arrays for the tests of docs/coming-from-pycuda.md."""

import numpy as np

import spanwise as sw

SCALE = """
__global__ void scale(float *x, float by, int n)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= by;
}
"""


def on_device(values):
    """A new array on the default device; sw.array() leaves NumPy's on the host."""
    return sw.array(values, device=sw.default_device())


def random(n):
    return np.random.default_rng().standard_normal(n).astype("float32")
