# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""A kernel and helpers that several test files use."""

import numpy as np

import spanwise as sw

AXPY = r"""
__global__ void axpy(float *out, const float *x, const float *y, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a * x[i] + y[i];
}
"""


def random(n, dtype="float32"):
    return np.random.default_rng().standard_normal(n).astype(dtype)


def device_kind(device):
    return sw.device(device).kind
