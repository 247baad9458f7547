# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""CUDA C on the CPU: an elementwise kernel compared with a plain loop, and the time of a barrier."""

import ctypes

import numpy as np
from harness import Contender, Result, interleave
from native import build

import spanwise as sw

ADD = """
__global__ void add(float *z, const float *x, const float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) z[i] = x[i] + y[i];
}
"""

# `rounds` barriers with almost no work between them.
MEET = """
__global__ void meet(int *out, int rounds) {
  int seen = 0;
  for (int i = 0; i < rounds; ++i) {
    __syncthreads();
    seen += 1;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = seen;
}
"""

# One barrier in a short kernel: most of the time is the start and end of its threads.
BLUR = """
__global__ void blur(float *y, const float *x) {
  __shared__ float row[258];
  int t = threadIdx.x, i = blockIdx.x * 256 + t, n = gridDim.x * 256;
  row[t + 1] = x[i];
  if (t == 0) row[0] = i > 0 ? x[i - 1] : 0;
  if (t == 255) row[257] = i + 1 < n ? x[i + 1] : 0;
  __syncthreads();
  y[i] = (row[t] + row[t + 1] + row[t + 2]) / 3;
}
"""


def measure():
    with sw.config.change(cpu_threads=1):
        yield _elementwise(1 << 25, "33.5M float32, memory bound, one thread each")
        yield _barrier()
        yield _blur()


def _elementwise(n, note):
    x, y, z = (np.random.default_rng(0).random(n, dtype="float32") for _ in range(3))
    expected = x + y
    plain = build("plain_loop").plain_add
    address = ctypes.POINTER(ctypes.c_float)
    pointers = [a.ctypes.data_as(address) for a in (z, x, y)]
    f = sw.SourceModule(ADD, device="cpu").get_function("add")
    sz, sx, sy = sw.asarray(z), sw.asarray(x), sw.asarray(y)
    launch = lambda: f(sz, sx, sy, np.int32(n), block=256, grid=(n + 255) // 256)  # noqa: E731
    z.fill(np.nan)
    launch()
    np.testing.assert_array_equal(z, expected)
    return Result(
        f"elementwise CUDA C kernel on the CPU, {note}",
        "the CUDA C kernel",
        interleave(
            {
                "the CUDA C kernel": launch,
                "plain loop, -O3 -march=native": lambda: plain(*pointers, n),
                "np.add(x, y, out=z)": lambda: np.add(x, y, out=z),
            }
        ),
        goal=("ratio", "plain loop, -O3 -march=native", 1.3),
    )


def _barrier():
    threads, blocks, few, many = 256, 16, 1, 201
    out = sw.zeros(threads * blocks, dtype="int32", device="cpu")
    f = sw.SourceModule(MEET, device="cpu").get_function("meet")
    call = lambda rounds: f(out, np.int32(rounds), block=threads, grid=blocks)  # noqa: E731
    call(many)
    np.testing.assert_array_equal(out.numpy(), many)
    figures = interleave({"few": lambda: call(few), "many": lambda: call(many)})
    arrivals = threads * blocks * (many - few)
    per_thread_and_barrier = [
        (m - f) / arrivals
        for m, f in zip(figures["many"].seconds, figures["few"].seconds, strict=True)
    ]
    return Result(
        f"__syncthreads() on the CPU, a thread and barrier, blocks of {threads}, one worker",
        "__syncthreads()",
        {"__syncthreads()": Contender(per_thread_and_barrier)},
        goal=("at most", None, 15e-9),
    )


def _blur():
    blocks = 4096
    x = np.random.default_rng(0).random(256 * blocks, dtype="float32")
    y = sw.zeros(x.size, "float32", device="cpu")
    f = sw.SourceModule(BLUR, device="cpu").get_function("blur")
    source = sw.asarray(x)
    call = lambda: f(y, source, block=256, grid=blocks)  # noqa: E731
    call()
    padded = np.pad(x.astype("float64"), 1)
    np.testing.assert_allclose(y.numpy(), (padded[:-2] + x + padded[2:]) / 3, rtol=1e-5)
    seconds = interleave({"blur": call})["blur"].seconds
    return Result(
        "a blur on the CPU with one __syncthreads(), a thread, blocks of 256, one worker",
        "the kernel",
        {"the kernel": Contender([s / x.size for s in seconds])},
        goal=("at most", None, 20e-9),
    )
