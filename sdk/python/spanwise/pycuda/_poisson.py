# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Poisson numbers by inversion of the distribution function."""

import functools

import spanwise as sw

# Above this mean exp(-mean) is close to the smallest double; the normal distribution is used.
_MOST = 600


@functools.cache
def _kernel():
    return sw.ElementwiseKernel(
        "double *count, double *mean, double *u, double *z",
        f"""
        if (mean[i] > {_MOST}) {{
          count[i] = fmax(0.0, floor(mean[i] + sqrt(mean[i]) * z[i] + 0.5));
        }} else {{
          double p = exp(-mean[i]), below = p;
          int k = 0;
          while (u[i] >= below && k < 2000) {{ ++k; p *= mean[i] / k; below += p; }}
          count[i] = k;
        }}
        """,
        "poisson",
    )


def fill_poisson(generator, data, lambda_value):
    """Fills a GPUArray; without `lambda_value` the mean of each element is its old value."""
    shape = data.shape
    if lambda_value is None:
        mean = data.array.astype("float64")
    else:
        mean = sw.full(shape, float(lambda_value), dtype="float64")
    count = sw.empty(shape, dtype="float64")
    u, z = generator.random(shape), generator.standard_normal(shape)
    _kernel()(count, mean, u, z)
    data.array[...] = count.astype(data.dtype)
