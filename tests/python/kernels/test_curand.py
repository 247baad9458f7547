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


MRG_SOURCE = """
#include <curand_kernel.h>
__global__ void k(unsigned *bits, float *uniform, double *wide, unsigned long long seed,
                  unsigned long long subsequence, unsigned long long offset) {
  curandStateMRG32k3a_t state;
  curand_init(seed, subsequence, offset, &state);
  for (int i = 0; i < 4; ++i) bits[i] = curand(&state);
  skipahead(3, &state);
  uniform[0] = curand_uniform(&state);
  wide[0] = curand_uniform_double(&state);
}
"""
MODULI = (4294967087, 4294944443)


class Mrg32k3a:
    """The generator by Python's integers."""

    def __init__(self, seed, skipped):
        x = ((seed & 0xFFFFFFFF) ^ 0x55555555, (seed >> 32) ^ 0xAAAAAAAA)
        factors = ((x[0], x[1], x[0]), (x[1], x[0], x[1])) if seed else ((1, 1, 1), (1, 1, 1))
        self.state = [[12345 * f % m for f in row] for row, m in zip(factors, MODULI, strict=True)]
        steps = (
            [[0, 1, 0], [0, 0, 1], [-810728, 1403580, 0]],
            [[0, 1, 0], [0, 0, 1], [-1370589, 0, 527612]],
        )
        for i, (step, m) in enumerate(zip(steps, MODULI, strict=True)):
            step, left = np.array(step, object) % m, skipped
            while left:
                if left & 1:
                    self.state[i] = list(step @ np.array(self.state[i], object) % m)
                step, left = step @ step % m, left >> 1

    def next(self):
        (a, b, c), (d, e, f) = self.state
        x, y = (1403580 * b - 810728 * a) % MODULI[0], (527612 * f - 1370589 * d) % MODULI[1]
        self.state = [[b, c, x], [e, f, y]]
        return x - y if x > y else x - y + MODULI[0]


@pytest.mark.parametrize("seed", [0, 1234, 0xDEADBEEFCAFEBABE])
@pytest.mark.parametrize(("subsequence", "offset"), [(0, 0), (1, 0), (123456789, 1000000007)])
def test_mrg32k3a_gives_the_numbers_of_its_recurrences(seed, subsequence, offset):
    kernel = sw.SourceModule(MRG_SOURCE, device="cpu").get_function("k")
    bits, uniform, wide = (
        sw.zeros(n, t, device="cpu") for n, t in ((4, "uint32"), (1, "float32"), (1, "float64"))
    )
    kernel(bits, uniform, wide, *(np.uint64(v) for v in (seed, subsequence, offset)), block=1)
    generator = Mrg32k3a(seed, subsequence * 2**76 + offset)
    assert bits.tolist() == [int(generator.next() * 1.000000048662) for _ in range(4)]
    for _ in range(3):
        generator.next()
    assert uniform.item() == np.float32(generator.next() * 2.3283065498378288e-10)
    assert wide.item() == generator.next() * 2.3283065498378288e-10
