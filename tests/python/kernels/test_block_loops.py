# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels with barriers run as loops between them on the CPU, or on fibers: the results are the same."""

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


def run(body, x, **options):
    source = "__device__ void bump(int &a, int b) { a += b; }\n" + HEAD + body + "}"
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
