# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""CUDA C on the CPU: an elementwise kernel compared with a plain loop, kernels with barriers compared
with the same bodies split by hand, and the time of a barrier on fibers."""

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

# The same for any number of threads.
STRIDED = """
__global__ void add(float *z, const float *x, const float *y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) z[i] = x[i] + y[i];
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

# Barriers that all threads of a block reach, shuffles and atomic operations on shared memory.
SPLIT = r"""
#define TILE 16
__global__ void matmul(float* C, const float* A, const float* B, int n) {
  __shared__ float As[TILE][TILE], Bs[TILE][TILE];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
  float acc = 0.0f;
  for (int m = 0; m < n / TILE; ++m) {
    As[ty][tx] = A[row * n + m * TILE + tx];
    Bs[ty][tx] = B[(m * TILE + ty) * n + col];
    __syncthreads();
    for (int k = 0; k < TILE; ++k) acc += As[ty][k] * Bs[k][tx];
    __syncthreads();
  }
  C[row * n + col] = acc;
}
__global__ void tree(float* out, const float* in, int n) {
  __shared__ float s[256];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? in[i] : 0.0f;
  __syncthreads();
  for (int k = blockDim.x / 2; k > 0; k >>= 1) {
    if (t < k) s[t] += s[t + k];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
__global__ void blur(float* out, const float* in, int w, int h) {
  __shared__ float s[20][20];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  for (int j = threadIdx.y; j < 20; j += 16)
    for (int i = threadIdx.x; i < 20; i += 16) {
      int gx = min(max((int)(blockIdx.x * 16) + i - 2, 0), w - 1), gy = min(max((int)(blockIdx.y * 16) + j - 2, 0), h - 1);
      s[j][i] = in[gy * w + gx];
    }
  __syncthreads();
  float sum = 0;
  for (int j = 0; j < 5; ++j) for (int i = 0; i < 5; ++i) sum += s[threadIdx.y + j][threadIdx.x + i];
  if (x < w && y < h) out[y * w + x] = sum / 25;
}
__global__ void shuffle(float* out, const float* in, int n) {
  __shared__ float part[32];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  float v = i < n ? in[i] : 0.0f;
  for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffff, v, o);
  if (t % 32 == 0) part[t / 32] = v;
  __syncthreads();
  if (t < 32) {
    v = t < blockDim.x / 32 ? part[t] : 0.0f;
    for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffff, v, o);
    if (t == 0) out[blockIdx.x] = v;
  }
}
__global__ void naive(float* C, const float* A, const float* B, int n) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < n && col < n) {
    float sum = 0.0f;
    for (int k = 0; k < n; ++k) sum += A[row * n + k] * B[k * n + col];
    C[row * n + col] = sum;
  }
}
__global__ void hist(int* out, const int* in, int n) {
  __shared__ int bins[256];
  for (int b = threadIdx.x; b < 256; b += blockDim.x) bins[b] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[in[i]], 1);
  __syncthreads();
  for (int b = threadIdx.x; b < 256; b += blockDim.x) atomicAdd(&out[b], bins[b]);
}
"""


def measure():
    with sw.config.change(cpu_threads=1):
        yield from _split()
        yield _elementwise(ADD, 1 << 17, "33.5M float32, memory bound, one thread each")
        yield _elementwise(STRIDED, 64, "33.5M float32, memory bound, a grid-stride loop")
        yield _barrier()
        yield _blur()


def _elementwise(source, grid, note):
    n = 1 << 25
    x, y, z = (np.random.default_rng(0).random(n, dtype="float32") for _ in range(3))
    expected = x + y
    plain = build("plain_loop").plain_add
    address = ctypes.POINTER(ctypes.c_float)
    pointers = [a.ctypes.data_as(address) for a in (z, x, y)]
    f = sw.SourceModule(source, device="cpu").get_function("add")
    sz, sx, sy = sw.asarray(z), sw.asarray(x), sw.asarray(y)
    launch = lambda: f(sz, sx, sy, np.int32(n), block=256, grid=grid)  # noqa: E731
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
    f = sw.SourceModule(MEET, device="cpu", cpu_barriers="fibers").get_function("meet")
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
        f"__syncthreads() on fibers, a thread and barrier, blocks of {threads}, one worker",
        "__syncthreads()",
        {"__syncthreads()": Contender(per_thread_and_barrier)},
        goal=("at most", None, 15e-9),
    )


def _blur():
    blocks = 4096
    x = np.random.default_rng(0).random(256 * blocks, dtype="float32")
    y = sw.zeros(x.size, "float32", device="cpu")
    f = sw.SourceModule(BLUR, device="cpu", cpu_barriers="fibers").get_function("blur")
    source = sw.asarray(x)
    call = lambda: f(y, source, block=256, grid=blocks)  # noqa: E731
    call()
    padded = np.pad(x.astype("float64"), 1)
    np.testing.assert_allclose(y.numpy(), (padded[:-2] + x + padded[2:]) / 3, rtol=1e-5)
    seconds = interleave({"blur": call})["blur"].seconds
    return Result(
        "a blur on fibers with one __syncthreads(), a thread, blocks of 256, one worker",
        "the kernel",
        {"the kernel": Contender([s / x.size for s in seconds])},
        goal=("at most", None, 20e-9),
    )


def _split():
    rng = np.random.default_rng(0)
    n, size = 1 << 22, 512
    x, image, bins = (
        rng.random(n, "f4"),
        rng.random((1024, 1024), "f4"),
        rng.integers(0, 256, 1 << 20, "i4"),
    )
    a, b = rng.random((2, size, size), "f4")
    sums = x.reshape(-1, 256).astype("f8").sum(1)
    padded = np.pad(image.astype("f8"), 2, mode="edge")
    window = sum(padded[i : i + 1024, j : j + 1024] for i in range(5) for j in range(5)) / 25
    square, blocks = {"block": (16, 16)}, {"block": 256, "grid": n // 256}
    hand = "the same split by hand, -O3"
    module, native = sw.SourceModule(SPLIT, device="cpu"), build("split_loops")
    for name, title, inputs, count, expected, launch, goal in (
        ("tree", "tree reduction of 4M floats in blocks of 256", (x,), n, sums, blocks,
         ("ratio", hand, 1.5)),
        ("matmul", "512 x 512 matmul in 16 x 16 tiles", (a, b), size, a.astype("f8") @ b,
         {**square, "grid": (32, 32)}, ("ratio", hand, 1.5)),
        ("naive", "512 x 512 matmul, each thread its element,", (a, b), size, a.astype("f8") @ b,
         {**square, "grid": (32, 32)}, ("at most", None, 60e-3)),
        ("blur", "5 x 5 blur through shared memory, 1024^2", (image,), 1024, window,
         {**square, "grid": (64, 64)}, ("ratio", hand, 1.5)),
        ("shuffle", "warp-shuffle reduction of 4M floats", (x,), n, sums, blocks,
         ("at most", None, 40e-3)),
        ("hist", "histogram of 1M ints with shared atomics", (bins,), bins.size, None,
         {"block": 256, "grid": 64}, ("at most", None, 6e-3)),
    ):  # fmt: skip
        peer = getattr(native, f"split_{name}")
        kernel = module.get_function(name)
        yield _beside_split(kernel, peer, title, inputs, count, expected, launch, goal)


def _beside_split(kernel, peer, title, inputs, count, expected, launch, goal):
    dtype = inputs[0].dtype
    shape = (256,) if expected is None else expected.shape
    host, out = np.zeros(shape, dtype), sw.zeros(shape, dtype.name, device="cpu")
    arrays = [sw.asarray(each) for each in inputs]
    scalars = [np.int32(count)] * (2 if "blur" in title else 1)
    call = lambda: kernel(out, *arrays, *scalars, **launch)  # noqa: E731
    pointers = [each.ctypes.data for each in (host, *inputs)]
    plain = lambda: peer(*map(ctypes.c_void_p, pointers), count)  # noqa: E731
    call()
    plain()
    if expected is None:
        expected = np.bincount(inputs[0], minlength=256)
    for result in (out.numpy(), host):
        np.testing.assert_allclose(result, expected, rtol=1e-4)
    contenders = {"the CUDA C kernel": call, "the same split by hand, -O3": plain}
    return Result(
        f"{title} in CUDA C on the CPU, one thread",
        "the CUDA C kernel",
        interleave(contenders),
        goal=goal,
    )
