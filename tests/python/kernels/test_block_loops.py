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
    "a function that reads the index": (
        "int a = 0; for (int i = t; i < n; i += 32) a += x[i] + place(); o[t] = a;",
        each_thread(lambda t, x: x[t::32].sum() + t * len(x[t::32])),
    ),
}


def run(body, x, **options):
    functions = "__device__ void bump(int &a, int b) { a += b; } __device__ int place() { return threadIdx.x; }"
    source = f"{functions}\n{HEAD}{body}}}"
    kernel = sw.SourceModule(source, device="cpu", **options).get_function("k")
    out = sw.full(64, -7, dtype="int32", device="cpu")
    kernel(out, sw.array(x, device="cpu"), np.int32(64), block=64)
    return out.numpy()


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
    body = "__syncthreads(); assert(t != 5); __syncthreads(); o[t] = t;"
    for barriers in ("auto", "fibers"):
        with pytest.raises(sw.KernelFaultError, match=r"kernel.cu:3, in thread \(5, 0, 0\)"):
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
