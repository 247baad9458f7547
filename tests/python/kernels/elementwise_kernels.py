# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels for the tests of ElementwiseKernel."""

import spanwise as sw

# Compiled once, called with all layouts and dtypes.
AXPY = sw.ElementwiseKernel(
    "float *z, float a, float *x, float *y", "z[i] = a * x[i] + y[i]", "axpy"
)

SUM_INDEX = sw.ElementwiseKernel("T x, T y", "T z, int64 k", "z = x + y; k = i", "sum_index")

PICK = sw.ElementwiseKernel("T x, bool first, T y", "T z", "z = first ? x : y", "pick")
