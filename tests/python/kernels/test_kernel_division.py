# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Integer division in kernels: by zero, and of the least number by -1, which C does not define."""

import itertools

import numpy as np
import pytest

import spanwise as sw

SOURCE = """
template <class T> __global__ void divide(T* q, T* r, const T* a, const T* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    q[i] = a[i] / b[i];
    r[i] = a[i] % b[i];
  }
}
__global__ void constants(int* x) {
  x[0] = x[1] / (x[1] - x[1]);
  x[2] = x[3] % 0;
  x[4] = (-2147483647 - 1) / (x[5] - 1);
}
"""
TYPES = {
    "signed char": "int8",
    "short": "int16",
    "int": "int32",
    "long long": "int64",
    "unsigned char": "uint8",
    "unsigned short": "uint16",
    "unsigned": "uint32",
    "unsigned long long": "uint64",
}


def divided(a, b, bits):
    """Quotient and remainder as in C, modulo 2**bits.

    For a divisor of 0 a GPU sets all bits of both; of 64-bit dividends below 2**32 only the lower 32.
    """
    if b == 0:
        quotient = remainder = 2**32 - 1 if bits == 64 and 0 <= a < 2**32 else -1
    else:
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        remainder = a - quotient * b
    return quotient % 2**bits, remainder % 2**bits


@pytest.mark.parametrize("name", TYPES)
def test_division_of_extreme_values_matches_a_gpu(device, compiler, name):
    dtype = np.dtype(TYPES[name])
    bits = 8 * dtype.itemsize
    info = np.iinfo(dtype)
    values = {0, 1, 2, 7, 100, info.max, info.max - 1, info.min, info.min + 1}
    values |= {-1, -2, -7} if info.min < 0 else set()
    pairs = list(itertools.product(sorted(values), repeat=2))
    a, b = (sw.array(np.array(x, dtype), device=device) for x in zip(*pairs, strict=True))
    q, r = sw.zeros_like(a), sw.zeros_like(a)
    module = sw.SourceModule(SOURCE, names=[f"divide<{name}>"], device=device)
    divide = module.get_function(f"divide<{name}>")
    divide(q, r, a, b, np.int32(len(pairs)), block=64, grid=-(-len(pairs) // 64))
    unsigned = np.dtype(f"uint{bits}")
    results = zip(q.numpy().view(unsigned).tolist(), r.numpy().view(unsigned).tolist(), strict=True)
    wrong = [
        (pair, result)
        for pair, result in zip(pairs, results, strict=True)
        if result != divided(*pair, bits)
    ]
    assert not wrong


def test_constant_division_by_zero_does_not_abort_the_process(device, compiler):
    x = sw.ones(6, "int32", device=device)
    x[5] = 0
    sw.SourceModule(SOURCE, device=device).get_function("constants")(x, block=1)
    assert x[4].item() == -(2**31)


def test_division_in_a_kernel_with_a_barrier_matches_a_gpu(device, compiler):
    source = """
    __global__ void k(int* x, const int* divisors) {
      __shared__ int s[64];
      s[threadIdx.x] = x[threadIdx.x] / divisors[threadIdx.x];
      __syncthreads();
      x[threadIdx.x] = s[63 - threadIdx.x];
    }
    """
    x = sw.full(64, -(2**31), "int32", device=device)
    divisors = np.arange(64, dtype="int32") - 2
    sw.SourceModule(source, device=device).get_function("k")(
        x, sw.array(divisors, device=device), block=64
    )
    expected = [divided(-(2**31), int(d), 32)[0] for d in divisors][::-1]
    assert (x.numpy().view("uint32") == expected).all()
