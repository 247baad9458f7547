# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels run as loops over the threads of a block on the CPU, between barriers and within the loops
that the threads do together, or on fibers: the results are the same."""

import time

import numpy as np
import pytest

import spanwise as sw

TREE = r"""
#define SIZE 256
template <class T> __global__ void tree(T *out, const T *in, int n) {
  __shared__ T s[SIZE];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (int k = blockDim.x / 2; k > 0; k >>= 1) {
    if (t < k) s[t] += s[t + k];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
"""
HEAD = "__global__ void k(int *o, const int *x, int n) { int t = threadIdx.x;\n"

# Bodies whose threads reach each barrier together, and what they compute from x, of 64 elements.
T = np.arange(64)
SPLIT = {
    "exchange": (
        "__shared__ int s[64]; s[t] = x[t]; __syncthreads(); o[t] = s[63 - t];",
        lambda x: x[::-1],
    ),
    "variables that live across": (
        "__shared__ int s[64]; int a = x[t], b[2] = {0}; b[1] = a * 3; s[t] = a; __syncthreads(); a += s[t ^ 1];"
        "__syncthreads(); s[t] = a + b[1]; __syncthreads(); o[t] = s[t ^ 2] + a;",
        lambda x: (x + x[T ^ 1] + 3 * x)[T ^ 2] + x + x[T ^ 1],
    ),
    "a return before a barrier": (
        "__shared__ int s[64]; s[t] = x[t]; o[t] = -1; __syncthreads(); if (t % 3 == 0) return; s[t] += 5;"
        "__syncthreads(); o[t] = s[t ^ 1];",
        lambda x: np.where(T % 3 == 0, -1, np.where((T ^ 1) % 3 == 0, x[T ^ 1], x[T ^ 1] + 5)),
    ),
    "shuffles": (
        "int v = x[t]; for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffff, v, d); o[t] = v;",
        lambda x: x.reshape(2, 32).sum(1).repeat(32),
    ),
    "a shuffle of some warps": (
        "int v = x[t]; if (t / 32 == 1) { v = __shfl_down_sync(0xffffffff, v, 1); v *= 2; } o[t] = v;",
        lambda x: np.where(T < 32, x, 2 * x[np.where(T == 63, 63, T + 1).clip(max=63)]),
    ),
    "a mask by name": (
        "const unsigned all = 0xffffffffu; int v = __shfl_sync(all, x[t], t ^ 1); o[t] = v + (int)__any_sync(all, t == 3);",
        lambda x: x[T ^ 1] + (T < 32),
    ),
    "votes": (
        "int c = __syncthreads_count(x[t] >= 32 && t > 1); o[t] = c + (int)(__ballot_sync(~0u, t % 2 == 0) & 3) + __syncthreads_or(t == 9);",
        lambda x: (x[2:] >= 32).sum() + 1 + 1 + 0 * x,
    ),
    "a loop that ends early": (
        "__shared__ int s[64]; s[t] = x[t]; __syncthreads(); for (int k = 1; k < 9; ++k) { int v = s[t ^ k];"
        "__syncthreads(); if (k == n % 5) continue; s[t] = v + 1; __syncthreads(); if (k > 5) break; } o[t] = s[t];",
        None,
    ),
    "a parameter that is modified": (
        "__shared__ int s[64]; x += 1 - n / 64; n -= t; s[t] = x[t] + n; __syncthreads(); o[t] = s[t ^ 1];",
        lambda x: (x + 64 - T)[T ^ 1],
    ),
    "a reference to a variable": (
        "__shared__ int s[64]; int a = n; { int &r = a; r += t; } s[t] = a; __syncthreads(); o[t] = s[t ^ 1];",
        lambda x: 64 + (T ^ 1),
    ),
    "a function's reference": (
        "__shared__ int s[64]; int a = n; bump(a, t); s[t] = a; __syncthreads(); o[t] = s[t ^ 1];",
        lambda x: 64 + (T ^ 1),
    ),
    "a pointer to a variable": (
        "__shared__ int s[64]; int a = n; *&a += t; s[t] = a; __syncthreads(); o[t] = s[t ^ 1];",
        lambda x: 64 + (T ^ 1),
    ),
    "a cast of what a pointer points to": (
        "__shared__ int s[64]; o[t] = 0; s[t] = x[t]; __syncthreads(); if ((int)*x == 0) { __syncthreads(); } o[t] = s[t ^ 1];",
        lambda x: x[T ^ 1],
    ),
}


def each_thread(function):
    """What each thread t computes, function(t, x), as a function of x."""
    return lambda x: np.array([function(int(t), x) for t in T])


def before(x, by):
    """What __shfl_up_sync() gives."""
    return np.where(by <= T % 32, x[np.maximum(T - by, 0)], x)


def scattered(pairs):
    """The elements (i, value) of o that a kernel writes, as a function of x."""

    def expected(x):
        out = np.full(64, -7)
        for i, value in pairs(x):
            out[i] = value
        return out

    return expected


def skipping(t, x):
    i, count = t, 0
    while i < 64:
        i += 16 if x[i] & 1 else 8
        count += 1
    return count


# Loops whose iterations the threads do together, and conditions that limit the threads of a row.
SPLIT |= {
    "a sum": (
        "int a = 0; for (int i = t; i < n; i += 16) a += x[i]; o[t] = a;",
        each_thread(lambda t, x: x[t::16].sum()),
    ),
    "rows of warps, columns of lanes": (
        "for (int r = t / 32; r < 8; r += 2) for (int c = t % 32; c < 8; c += 32) o[r * 8 + c] = x[r * 8 + c] * 2;",
        lambda x: 2 * x,
    ),
    "an unsigned counter": (
        "for (unsigned i = threadIdx.x + 3; i <= 60u; i += blockDim.x) o[i] = x[i];",
        scattered(lambda x: [(i, x[i]) for i in range(3, 61)]),
    ),
    "more elements than threads": (
        "__shared__ int s[80]; for (int i = t; i < 80; i += blockDim.x) s[i] = i < n ? x[i] : i; __syncthreads(); o[t] = s[79 - t];",
        each_thread(lambda t, x: x[79 - t] if t > 15 else 79 - t),
    ),
    "a sum over rounds": (
        "int a = 1; for (int k = 0; k < 3; ++k) { for (int i = t; i < n; i += 24) a += x[i] * k; a ^= 5; } o[t] = a;",
        each_thread(lambda t, x: (((1 ^ 5) + x[t::24].sum() ^ 5) + 2 * x[t::24].sum()) ^ 5),
    ),
    "two axes": (
        "for (int j = threadIdx.x / 8; j < 10; j += 8) for (int i = threadIdx.x % 8; i < 6; i += 8) o[j * 6 + i] = x[i] - j;",
        scattered(lambda x: [(j * 6 + i, x[i] - j) for j in range(10) for i in range(6)]),
    ),
    "a counter that the body changes": (
        "int a = 0; for (int i = t; i < n; i += 8) { if (x[i] & 1) i += 8; ++a; } o[t] = a;",
        each_thread(skipping),
    ),
    "a strided loop that ends early": (
        "int a = 0; for (int i = t; i < n; i += 8) { if (x[i] > 40) break; ++a; } o[t] = a;",
        each_thread(lambda t, x: int(np.append(x[t::8] > 40, True).argmax())),
    ),
    "an array of each thread": (
        "int b[2] = {0}; for (int i = t; i < n; i += 9) b[i & 1] += x[i]; o[t] = b[0] - b[1];",
        each_thread(lambda t, x: sum(x[i] * (-1) ** i for i in range(t, 64, 9))),
    ),
    "a bound that the body changes": (
        "int a = 0, end = n; for (int i = t; i < end; i += 8) { a += x[i]; end -= 8; } o[t] = a;",
        each_thread(lambda t, x: sum(x[t + 8 * k] for k in range(8) if t + 8 * k < 64 - 8 * k)),
    ),
    "a condition around a loop": (
        "int i = t + 5; if (i < n) { int a = 0; for (int k = 0; k < n; ++k) a += x[k] * i; o[t] = a; }",
        scattered(lambda x: [(t, x.sum() * (t + 5)) for t in range(59)]),
    ),
    "a negative value and an unsigned bound": (
        "int i = t - 2; if (i < n - 10u) { int a = 0; for (int k = 0; k < 3; ++k) a += x[i] + k; o[t] = a; }",
        scattered(lambda x: [(t, 3 * x[t - 2] + 3) for t in range(2, 56)]),
    ),
    "a return before a loop": (
        "int i = t + 5; if (i >= n || n < 0) return; int a = 0; for (int k = 0; k < n; ++k) a += x[i] * k; o[t] = a;",
        scattered(lambda x: [(t, x[t + 5] * 2016) for t in range(59)]),
    ),
    "a return between loops and a barrier": (
        "__shared__ int s[64]; s[t] = x[t]; if (t > 40) return; int a = 0; for (int k = 0; k < n; ++k) a += x[k] * t;"
        "__syncthreads(); o[t] = s[t] + a;",
        scattered(lambda x: [(t, x[t] + x.sum() * t) for t in range(41)]),
    ),
    "a loop that no thread enters": (
        "int a = 3; if (t <= 40) { int b = 1; for (int k = 0; k < n - 64; ++k) b += x[k]; o[t] = a + b; }",
        scattered(lambda x: [(t, 4) for t in range(41)]),
    ),
    "a store before a condition": (
        "o[t] = 9; if (t < 7) { for (int k = 0; k < n; ++k) o[t] += x[k]; }",
        each_thread(lambda t, x: 9 + (x.sum() if t < 7 else 0)),
    ),
    "a loop that a row of threads does together": (
        "int a = 0; for (int k = 0; k < n; ++k) a += x[k] * x[t] + k; o[t] = a;",
        lambda x: x.sum() * x + 2016,
    ),
    "such a loop of a part of the threads": (
        "int i = t + 5, a = 7; if (i < n) { int c = 1; for (int k = n; k > 0; k >>= 1) { int b = x[k - 1]; c += b * x[i]; } a = c; o[t] = a; }",
        scattered(
            lambda x: [(t, 1 + x[[63, 31, 15, 7, 3, 1, 0]].sum() * x[t + 5]) for t in range(59)]
        ),
    ),
    "such a loop after a return": (
        "int i = t + 5, u = 2; if (i >= n) return; u += 3; int a = u; for (int k = 0; k < n - 3; ++k) a += x[k] * x[i] + u; o[t] = a;",
        scattered(lambda x: [(t, 5 + x[:61].sum() * x[t + 5] + 5 * 61) for t in range(59)]),
    ),
    "such a loop that stores": (
        "for (int k = 0; k < n / 64; ++k) { o[k * 64 + t] = x[t] + k; } n += t; o[t] += n;",
        lambda x: x + 64 + T,
    ),
    "a function that reads the index": (
        "int a = 0; for (int i = t; i < n; i += 32) a += x[i] + place(); o[t] = a;",
        each_thread(lambda t, x: x[t::32].sum() + t * len(x[t::32])),
    ),
}

# Calls of functions whose threads wait for one another.
FUNCTIONS = r"""
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__device__ void bump(int &a, int b) { a += b; }
__device__ int place() { return threadIdx.x; }
__inline__ __device__ int warp_sum(int val) {
  for (int offset = warpSize / 2; offset > 0; offset /= 2) val += __shfl_down_sync(0xffffffff, val, offset);
  return val;
}
__inline__ __device__ int block_sum(int val) {
  static __shared__ int shared[32];
  int lane = threadIdx.x % warpSize, wid = threadIdx.x / warpSize;
  val = warp_sum(val);
  if (lane == 0) shared[wid] = val;
  __syncthreads();
  val = threadIdx.x < blockDim.x / warpSize ? shared[lane] : 0;
  if (wid == 0) val = warp_sum(val);
  return val;
}
template <typename T, int N> __device__ void stats(T v, T *s, T &high, T &count) {
  s[threadIdx.x] = v;
  __syncthreads();
  for (int i = 0; i < N; ++i) { const T x = s[i]; high = x > high ? x : high; count += x < v; }
  __syncthreads();
}
template <class T> __device__ T previous(T v, int by = 1) { T t = __shfl_up_sync(0xffffffffu, v, by); return t; }
__device__ int calls(int first) {
  __shared__ int number;
  if (threadIdx.x == 0) number = first ? 4 : number + 1;
  __syncthreads();
  int v = number;
  __syncthreads();
  return v;
}
__device__ int early(int v) { if (v > 40) { return v; } v = __shfl_sync(__activemask(), v, 0); return v; }
template <class Group> __device__ int scan(Group g, int *s, int v) {
  const int rank = g.thread_rank();
  s[rank] = v;
  g.sync();
  for (int i = 1; i < g.size(); i *= 2) { int o = rank >= i ? s[rank - i] : 0; g.sync(); s[rank] += o; cg::sync(g); }
  return s[rank];
}
template <int N> __device__ int tile_sum(cg::thread_block_tile<N> tile, int v) {
  for (int d = tile.size() / 2; d > 0; d /= 2) v += tile.shfl_xor(v, d);
  return v;
}
"""
SPLIT |= {
    "a function that waits": (
        "int t2 = t; int v = block_sum(x[t2]); o[t] = t == 0 ? v : 1;",
        lambda x: np.where(T == 0, x.sum(), 1),
    ),
    "functions in an expression and in an argument": (
        "int lane = 3; o[t] = previous(x[t]) + lane * previous(previous(t), 2);",
        lambda x: before(x, 1) + 3 * before(before(T, 1), 2),
    ),
    "a template with references": (
        "__shared__ int s[64]; int high = -99, count = 0; stats<int, 64>(x[t], s, high, count); o[t] = high * 100 + count;",
        lambda x: 100 * x.max() + (x[None, :] < x[:, None]).sum(1),
    ),
    "a function under a condition that is the same for all": (
        "int v = 0; if (n > 3) v = block_sum(1); else v = warp_sum(2); o[t] = t ? 0 : v;",
        lambda x: np.where(T == 0, 64, 0),
    ),
    "a function in a loop": (
        "int v = 0; for (int k = 0; k < 3; ++k) { v += block_sum(x[t] + k); __syncthreads(); } o[t] = t ? 0 : v;",
        lambda x: np.where(T == 0, 3 * x.sum() + 3 * 64, 0),
    ),
    "a function that returns early": ("o[t] = early(x[t]);", None),
    "shared memory of a function that is called again": (
        "int a = calls(1); a = a * 10 + calls(0); for (int k = 0; k < 2; ++k) a = a * 10 + calls(0); o[t] = a;",
        lambda x: 4567 + 0 * x,
    ),
    "a block's group": (
        "__shared__ int s[64]; cg::thread_block cta = cg::this_thread_block(); o[t] = scan(cta, s, x[t]);",
        lambda x: x.cumsum(),
    ),
    "tiles": (
        "auto tile = cg::tiled_partition<8>(cg::this_thread_block()); int v = tile_sum<8>(tile, x[t]);"
        "tile.sync(); o[t] = v * 100 + tile.thread_rank() * 10 + tile.meta_group_rank();",
        lambda x: x.reshape(8, 8).sum(1).repeat(8) * 100 + T % 8 * 10 + T // 8,
    ),
    "a vote of a tile": (
        "cg::thread_block_tile<32> w = cg::tiled_partition<32>(cg::this_thread_block()); o[t] = w.any(x[t] == 7) + 2 * w.all(t < 32);",
        lambda x: (x.reshape(2, 32) == 7).any(1).repeat(32) + 2 * (T < 32),
    ),
}


def run(body, x, **options):
    source = f"{FUNCTIONS}\n{HEAD}{body}}}"
    kernel = sw.SourceModule(source, device="cpu", **options).get_function("k")
    out = sw.full(64, -7, dtype="int32", device="cpu")
    kernel(out, sw.array(x, device="cpu"), np.int32(64), block=64)
    return out.numpy()


NAIVE = r"""
__global__ void matmul(float *c, const float *a, const float *b, int m, int n, int depth) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < m && column < n) {
    float sum = 0;
    for (int k = 0; k < depth; ++k) sum += a[row * depth + k] * b[k * n + column];
    c[row * n + column] = sum;
  }
}
"""


@pytest.mark.parametrize("block", [(16, 16), (32, 4), (7, 3), (1, 5)])
@pytest.mark.parametrize("leaves", [False, True])
def test_rows_of_threads_do_a_loop_together(block, leaves):
    m, n, depth = 37, 45, 29
    rng = np.random.default_rng(7)
    a, b = (rng.integers(-9, 9, shape).astype("float32") for shape in ((m, depth), (depth, n)))
    source = NAIVE
    if leaves:
        source = source.replace(
            "if (row < m && column < n) {", "if (row >= m || column >= n) return;"
        ).replace("= sum;\n  }", "= sum;")
    c = sw.full((m + 1, n), -7, dtype="float32", device="cpu")
    kernel = sw.SourceModule(source, device="cpu").get_function("matmul")
    grid = (-(-n // block[0]), -(-m // block[1]))
    arguments = [sw.array(each, device="cpu") for each in (a, b)]
    kernel(c, *arguments, *map(np.int32, (m, n, depth)), block=block, grid=grid)
    np.testing.assert_array_equal(c.numpy()[:m], a @ b)
    assert (c.numpy()[m] == -7).all()


@pytest.mark.parametrize("order", ["forward", "reverse"])
@pytest.mark.parametrize("name", SPLIT)
def test_loops_and_fibers_give_the_same(name, order):
    body, expected = SPLIT[name]
    x = np.random.default_rng(5).permutation(64).astype("int32")
    x[0] = 0
    with sw.config.change(cpu_thread_order=order):
        loops, fibers = run(body, x), run(body, x, cpu_barriers="fibers")
    np.testing.assert_array_equal(loops, fibers)
    if expected is not None:
        np.testing.assert_array_equal(loops, expected(x))


@pytest.mark.parametrize("ctype", ["int", "float", "double"])
def test_templates_and_macros(device, ctype):
    dtype = {"int": "int32", "float": "float32", "double": "float64"}[ctype]
    x = np.random.default_rng(1).integers(-99, 99, 5000).astype(dtype)
    out = sw.full(20, -7, dtype=dtype, device=device)
    module = sw.SourceModule(TREE, names=[f"tree<{ctype}>"], device=device)
    module.get_function(f"tree<{ctype}>")(
        out, sw.array(x, device=device), np.int32(5000), block=256, grid=20
    )
    expected = np.pad(x, (0, 120)).reshape(20, 256).sum(1)
    np.testing.assert_array_equal(out.numpy(), expected)


SLOW_FUNCTION = """__device__ float warp_sum(float v) {
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
  return v;
}
__device__ float block_sum(float v) {
  __shared__ float s[32];
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  v = warp_sum(v);
  if (lane == 0) s[warp] = v;
  __syncthreads();
  v = lane < (blockDim.x >> 5) ? s[lane] : 0.f;
  return warp_sum(v);
}
__global__ void k(float *o, const float *x) {
  float v = block_sum(x[blockIdx.x * blockDim.x + threadIdx.x]);
  if (threadIdx.x == 0) o[blockIdx.x] = v;
}
"""


def test_functions_that_wait_are_loops():
    x = np.random.default_rng(5).integers(0, 99, 1 << 17).astype("float32")
    source, seconds = sw.array(x, device="cpu"), {}
    for barriers in ("auto", "fibers"):
        module = sw.SourceModule(SLOW_FUNCTION, device="cpu", cpu_barriers=barriers)
        kernel = module.get_function("k")
        out = sw.zeros(512, dtype="float32", device="cpu")
        times = []
        for _ in range(3):
            start = time.perf_counter()
            kernel(out, source, block=256, grid=512)
            times.append(time.perf_counter() - start)
        seconds[barriers] = min(times)
        np.testing.assert_array_equal(out.numpy(), x.reshape(512, 256).sum(1))
    assert seconds["auto"] < seconds["fibers"] / 3


def test_loops_are_faster_than_fibers():
    x, out = sw.ones(1 << 18, "float32", device="cpu"), sw.zeros(1 << 10, "float32", device="cpu")
    seconds = {}
    for barriers in ("auto", "fibers"):
        module = sw.SourceModule(TREE, names=["tree<float>"], device="cpu", cpu_barriers=barriers)
        kernel = module.get_function("tree<float>")
        times = []
        for _ in range(5):
            start = time.perf_counter()
            kernel(out, x, np.int32(x.size), block=256, grid=x.size // 256)
            times.append(time.perf_counter() - start)
        seconds[barriers] = min(times)
    assert seconds["auto"] < seconds["fibers"] / 4, seconds


def test_an_assertion_names_its_thread_and_line():
    body = "\n#line 7\n__syncthreads(); assert(t != 5); __syncthreads(); o[t] = t;"
    for barriers in ("auto", "fibers"):
        with pytest.raises(sw.KernelFaultError, match=r"kernel.cu:7, in thread \(5, 0, 0\)"):
            run(body, T.astype("int32"), cpu_barriers=barriers)


def test_a_fault_names_its_thread():
    body = "__syncthreads(); if (t == 7) *(volatile int *)8 = 1; __syncthreads(); o[t] = t;"
    plain = body.replace("volatile ", "")
    for barriers in ("auto", "fibers"):
        with pytest.raises(sw.KernelFaultError, match=r"thread \(7, 0, 0\)"):
            run(plain, T.astype("int32"), cpu_barriers=barriers)


def test_a_barrier_that_some_threads_do_not_reach_is_an_error():
    body = "if (t < 3) __syncthreads(); else { __syncthreads(); } o[t] = t;"
    with pytest.raises(sw.KernelFaultError, match="at different barriers"):
        run(body.replace("else {", "\nelse {"), T.astype("int32"))


def test_cpu_barriers_refuses_other_values():
    with pytest.raises(
        sw.ArgumentError, match='cpu_barriers: expected "auto" or "fibers", got "x"'
    ):
        sw.SourceModule(HEAD + "}", device="cpu", cpu_barriers="x")


def test_options_and_config_run_fibers():
    x = np.arange(64, dtype="int32")
    option = ("-D", "SW_CPU_BARRIERS=fibers")
    np.testing.assert_array_equal(run(SPLIT["exchange"][0], x, options=option), x[::-1])
    with sw.config.change(cpu_barriers="fibers"):
        np.testing.assert_array_equal(run(SPLIT["exchange"][0], x), x[::-1])
