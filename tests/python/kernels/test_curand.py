# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""cuRAND's device API on the CPU: the distribution of Poisson numbers, which differ from a GPU's."""

import numpy as np
import pytest

import spanwise as sw

SOURCE = """
#include <curand_kernel.h>
template <class State>
__global__ void draw(unsigned *out, double mean, int per_thread) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  State state;
  curand_init(1234, t, 0, &state);
  for (int i = 0; i < per_thread; i += 4) {
    uint4 four = curand_poisson4(&state, mean);
    out[t * per_thread + i] = four.x;
    out[t * per_thread + i + 1] = four.y;
    out[t * per_thread + i + 2] = four.z;
    out[t * per_thread + i + 3] = curand_poisson(&state, mean);
  }
}
"""
STATES = ("curandState", "curandStatePhilox4_32_10_t")


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("mean", [0.3, 4, 9.99, 10, 63, 5000])
def test_poisson_numbers_have_their_distribution(state, mean):
    names = [f"draw<{name}>" for name in STATES]
    module = sw.SourceModule(SOURCE, names=names, device="cpu")
    per_thread, threads = 200, 1024
    out = sw.zeros(per_thread * threads, "uint32", device="cpu")
    module.get_function(f"draw<{state}>")(out, mean, per_thread, block=256, grid=threads // 256)
    numbers = out.numpy().astype("float64")
    standard_error = np.sqrt(mean / numbers.size)
    assert abs(numbers.mean() - mean) < 5 * standard_error
    assert abs(numbers.var() / mean - 1) < 5 * np.sqrt((2 + 1 / mean) / numbers.size)
    # The chi-squared test against the exact probabilities, over all k expected more than 20 times.
    k = np.arange(int(mean + 8 * np.sqrt(mean) + 10))
    log_k = np.concatenate([[0], np.cumsum(np.log(k[1:]))])
    expected = numbers.size * np.exp(k * np.log(mean) - mean - log_k)
    is_common = expected > 20
    counts = np.bincount(numbers.astype(int), minlength=k.size)[: k.size]
    chi_squared = ((counts - expected)[is_common] ** 2 / expected[is_common]).sum()
    assert chi_squared < is_common.sum() + 6 * np.sqrt(2 * is_common.sum())
