# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The constructs of CUDA C that docs/host-execution.md lists, each with a kernel that uses it.

Every kernel of RUNS is launched with 64 threads and 1024 bytes of dynamic shared memory and leaves t + 1
in out[t]; those of REFUSALS run on a GPU only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Construct:
    """`name` contains '<' for a template instance; `arguments` follow `out`."""

    title: str
    source: str
    name: str = "k"
    arguments: tuple[object, ...] = ()
    note: str = ""

    def __str__(self) -> str:
        return self.title.replace(" ", "_")


@dataclass(frozen=True)
class Refusal:
    """The CPU's error contains `words`, among them the construct and the line."""

    title: str
    source: str
    words: tuple[str, ...]
    runs_on_gpu: bool = True

    def __str__(self) -> str:
        return self.title.replace(" ", "_")


PAIR = np.zeros(1, np.dtype([("key", "i1"), ("value", "f4")], align=True))
PAIR[0] = (1, 1.0)
TABLE = np.zeros(1, np.dtype([("entries", "i4", 4)]))
TABLE[0]["entries"] = 1

RUNS = [
    Construct(
        "plain",
        r"""
__global__ void k(int* out) { out[threadIdx.x] = threadIdx.x + 1; }
""",
    ),
    Construct(
        "static kernel",
        r"""
static __global__ void k(int* out) { out[threadIdx.x] = threadIdx.x + 1; }
""",
    ),
    Construct(
        "inline kernel",
        r"""
inline __global__ void k(int* out) { out[threadIdx.x] = threadIdx.x + 1; }
""",
    ),
    Construct(
        "extern c block",
        r"""
extern "C" {
__global__ void k(int* out) { out[threadIdx.x] = threadIdx.x + 1; }
}
""",
    ),
    Construct(
        "extern c single",
        r"""
extern "C" __global__ void k(int* out) { out[threadIdx.x] = threadIdx.x + 1; }
""",
    ),
    Construct(
        "in a namespace",
        r"""
namespace a {
namespace b {
__global__ void k(int* out) { out[threadIdx.x] = threadIdx.x + 1; }
}  // namespace b
}  // namespace a
""",
    ),
    Construct(
        "by qualified name",
        r"""
namespace a::b {
__global__ void k(int* out) { out[threadIdx.x] = threadIdx.x + 1; }
}  // namespace a::b
""",
        name="a::b::k",
    ),
    Construct(
        "in an unnamed namespace",
        r"""
namespace {
__global__ void k(int* out) { out[threadIdx.x] = threadIdx.x + 1; }
}  // namespace
""",
    ),
    Construct(
        "forward declared",
        r"""
__global__ void k(int* out);
__global__ void k(int* out) { out[threadIdx.x] = threadIdx.x + 1; }
""",
    ),
    Construct(
        "launch bounds before void",
        r"""
__global__ __launch_bounds__(64) void k(int* out) { out[threadIdx.x] = threadIdx.x + 1; }
""",
    ),
    Construct(
        "launch bounds after void",
        r"""
__global__ void __launch_bounds__(64, 2) k(int* out) { out[threadIdx.x] = threadIdx.x + 1; }
""",
    ),
    Construct(
        "device function",
        r"""
__device__ int f(int x) { return x + 1; }
__global__ void k(int* out) { out[threadIdx.x] = f(threadIdx.x); }
""",
    ),
    Construct(
        "forceinline",
        r"""
__device__ __forceinline__ int f(int x) { return x + 1; }
__global__ void k(int* out) { out[threadIdx.x] = f(threadIdx.x); }
""",
    ),
    Construct(
        "noinline",
        r"""
__device__ __noinline__ int f(int x) { return x + 1; }
__global__ void k(int* out) { out[threadIdx.x] = f(threadIdx.x); }
""",
    ),
    Construct(
        "host device function",
        r"""
__host__ __device__ constexpr int f(int x) { return x + 1; }
__global__ void k(int* out) { out[threadIdx.x] = f(threadIdx.x); }
""",
    ),
    Construct(
        "recursion",
        r"""
__device__ int f(int x) { return x == 0 ? 1 : 1 + f(x - 1); }
__global__ void k(int* out) { out[threadIdx.x] = f(threadIdx.x); }
""",
        note="an error where it needs more stack; `cpu_stack_kb`",
    ),
    Construct(
        "member function",
        r"""
struct S {
  int v;
  __device__ int next() const { return v + 1; }
};
__global__ void k(int* out) {
  S s{(int)threadIdx.x};
  out[threadIdx.x] = s.next();
}
""",
    ),
    Construct(
        "lambda",
        r"""
__global__ void k(int* out) {
  auto f = [=](int x) { return x + 1; };
  out[threadIdx.x] = f(threadIdx.x);
}
""",
    ),
    Construct(
        "template device function",
        r"""
template <class T>
__device__ T f(T x) {
  return x + T(1);
}
__global__ void k(int* out) { out[threadIdx.x] = f<int>(threadIdx.x); }
""",
    ),
    Construct(
        "virtual function",
        r"""
struct A {
  __device__ virtual int f(int x) { return x; }
};
struct B : A {
  __device__ int f(int x) override { return x + 1; }
};
__global__ void k(int* out) {
  B b;
  A* a = &b;
  out[threadIdx.x] = a->f(threadIdx.x);
}
""",
    ),
    Construct(
        "function pointer",
        r"""
__device__ int f(int x) { return x + 1; }
__global__ void k(int* out) {
  int (*p)(int) = f;
  out[threadIdx.x] = p(threadIdx.x);
}
""",
    ),
    Construct(
        "shared array",
        r"""
__global__ void k(int* out) {
  __shared__ int s[64];
  s[63 - threadIdx.x] = 64 - threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x];
}
""",
    ),
    Construct(
        "shared two dimensional",
        r"""
__global__ void k(int* out) {
  __shared__ int s[8][9];
  int t = threadIdx.x;
  s[t / 8][t % 8] = t + 1;
  __syncthreads();
  out[63 - t] = s[(63 - t) / 8][(63 - t) % 8];
}
""",
    ),
    Construct(
        "shared struct",
        r"""
struct S {
  int a;
  float b;
};
__global__ void k(int* out) {
  __shared__ S s[64];
  s[threadIdx.x].a = threadIdx.x + 1;
  __syncthreads();
  out[63 - threadIdx.x] = s[63 - threadIdx.x].a;
}
""",
    ),
    Construct(
        "shared volatile",
        r"""
__global__ void k(int* out) {
  volatile __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x + 1;
  __syncthreads();
  out[63 - threadIdx.x] = s[63 - threadIdx.x];
}
""",
    ),
    Construct(
        "shared static and aligned",
        r"""
__global__ void k(int* out) {
  static __shared__ int a[64];
  __shared__ alignas(32) int b[64];
  __shared__ __align__(16) int c[64];
  int t = threadIdx.x;
  a[t] = b[t] = c[t] = t + 1;
  __syncthreads();
  out[63 - t] = a[63 - t] + b[63 - t] - c[63 - t];
}
""",
    ),
    Construct(
        "shared in device function",
        r"""
__device__ int* f() {
  __shared__ int s[64];
  return s;
}
__global__ void k(int* out) {
  f()[threadIdx.x] = threadIdx.x + 1;
  __syncthreads();
  out[63 - threadIdx.x] = f()[63 - threadIdx.x];
}
""",
    ),
    Construct(
        "shared scalar",
        r"""
__global__ void k(int* out) {
  __shared__ int n;
  if (threadIdx.x == 0) n = 1;
  __syncthreads();
  out[threadIdx.x] = threadIdx.x + n;
}
""",
    ),
    Construct(
        "shared at namespace scope",
        r"""
__shared__ int s[64];
__global__ void k(int* out) {
  s[threadIdx.x] = threadIdx.x + 1;
  __syncthreads();
  out[63 - threadIdx.x] = s[63 - threadIdx.x];
}
""",
    ),
    Construct(
        "dynamic shared",
        r"""
__global__ void k(int* out) {
  extern __shared__ int s[];
  s[threadIdx.x] = threadIdx.x + 1;
  __syncthreads();
  out[63 - threadIdx.x] = s[63 - threadIdx.x];
}
""",
    ),
    Construct(
        "dynamic shared at namespace scope",
        r"""
extern __shared__ int s[];
__device__ void put(volatile int* s, int t) { s[t] = t + 1; }
__global__ void k(int* out) {
  put(s, threadIdx.x);
  __syncthreads();
  out[63 - threadIdx.x] = s[63 - threadIdx.x];
}
""",
    ),
    Construct(
        "dynamic shared in a namespace",
        r"""
namespace n {
extern __shared__ __align__(16) unsigned char bytes[];
__global__ void k(int* out) {
  int* s = reinterpret_cast<int*>(bytes);
  s[threadIdx.x] = threadIdx.x + 1;
  __syncthreads();
  out[63 - threadIdx.x] = s[63 - threadIdx.x];
}
}  // namespace n
""",
    ),
    Construct(
        "dynamic shared of template type",
        r"""
template <class T>
__device__ T* f() {
  extern __shared__ __align__(sizeof(T)) unsigned char raw[];
  return reinterpret_cast<T*>(raw);
}
__global__ void k(int* out) {
  f<int>()[threadIdx.x] = threadIdx.x + 1;
  __syncthreads();
  out[63 - threadIdx.x] = f<int>()[63 - threadIdx.x];
}
""",
    ),
    Construct(
        "dynamic shared rows",
        r"""
__global__ void k(int* out) {
  extern __shared__ int s[][8];
  int t = threadIdx.x;
  s[t / 8][t % 8] = t + 1;
  __syncthreads();
  out[63 - t] = s[(63 - t) / 8][(63 - t) % 8];
}
""",
    ),
    Construct(
        "dynamic shared declared twice",
        r"""
extern __shared__ int s[];
extern __shared__ int s[];
__global__ void k(int* out) {
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x] + 1;
}
""",
    ),
    Construct(
        "constant variable",
        r"""
__constant__ int one = 1;
__global__ void k(int* out) { out[threadIdx.x] = threadIdx.x + one; }
""",
    ),
    Construct(
        "device variable",
        r"""
__device__ int one[2] = {0, 1};
__global__ void k(int* out) { out[threadIdx.x] = threadIdx.x + one[1]; }
""",
    ),
    Construct(
        "read only loads",
        r"""
__device__ const int table[2] = {1, 2};
__global__ void k(int* out) { out[threadIdx.x] = threadIdx.x + __ldg(&table[0]); }
""",
    ),
    Construct(
        "vector types",
        r"""
__global__ void k(int* out) {
  int4 v = make_int4(1, 2, 3, 4);
  float2 f = make_float2(0.5f, 1.5f);
  uchar3 c = make_uchar3(1, 2, 3);
  out[threadIdx.x] = threadIdx.x + v.w - c.z + (int)(f.x * 0);
}
""",
    ),
    Construct(
        "vector loads",
        r"""
__global__ void k(int* out) {
  if (threadIdx.x < 16) {
    int b = threadIdx.x * 4;
    reinterpret_cast<int4*>(out)[threadIdx.x] = make_int4(b + 1, b + 2, b + 3, b + 4);
  }
}
""",
    ),
    Construct(
        "dim3 copies",
        r"""
__global__ void k(int* out) {
  dim3 b = blockDim;
  uint3 t = threadIdx;
  const dim3 g(gridDim);
  out[t.x] = t.x + b.y * g.z;
}
""",
    ),
    Construct(
        "unroll pragma",
        r"""
__global__ void k(int* out) {
  int v = 0;
#pragma unroll 4
  for (int i = 0; i <= threadIdx.x; ++i) v += 1;
  out[threadIdx.x] = v;
}
""",
    ),
    Construct(
        "printf and assert",
        r"""
__global__ void k(int* out) {
  if (out == nullptr) printf("never %d\n", threadIdx.x);
  assert(out != nullptr);
  out[threadIdx.x] = threadIdx.x + 1;
}
""",
        note="the output appears at once; a failed assert is an error with thread and line",
    ),
    Construct(
        "new and malloc",
        r"""
__global__ void k(int* out) {
  int* p = new int[2];
  int* q = (int*)malloc(8);
  p[0] = threadIdx.x;
  q[1] = 1;
  out[threadIdx.x] = p[0] + q[1];
  delete[] p;
  free(q);
}
""",
        note="the host's heap",
    ),
    Construct(
        "atomics",
        r"""
__global__ void k(int* out) {
  int t = threadIdx.x;
  out[t] = 0;
  atomicAdd(&out[t], t);
  atomicSub(&out[t], 1);
  atomicMax(&out[t], t);
  atomicMin(&out[t], t + 5);
  atomicExch(&out[t], t);
  atomicOr(&out[t], 0);
  atomicAnd(&out[t], -1);
  atomicXor(&out[t], 0);
  atomicCAS(&out[t], t, t + 1);
}
""",
    ),
    Construct(
        "atomics that wrap",
        r"""
__global__ void k(int* out) {
  __shared__ unsigned a[64], b[64];
  int t = threadIdx.x;
  a[t] = 5;
  b[t] = 0;
  atomicInc(&a[t], 5);
  atomicDec(&b[t], 7);
  out[t] = t + 1 + a[t] + b[t] - 7;
}
""",
    ),
    Construct(
        "atomics of reals",
        r"""
__global__ void k(int* out) {
  __shared__ float f[64];
  __shared__ double d[64];
  int t = threadIdx.x;
  f[t] = 1;
  d[t] = 2;
  atomicAdd(&f[t], 2.5f);
  atomicAdd(&d[t], 1.5);
  out[t] = t + (int)(f[t] + d[t]) - 6;
}
""",
    ),
    Construct(
        "atomics 64 bit",
        r"""
__global__ void k(int* out) {
  __shared__ unsigned long long v[64];
  int t = threadIdx.x;
  v[t] = 1;
  atomicCAS(&v[t], 1ull, 1ull << 40);
  atomicAdd(&v[t], 1ull);
  out[t] = t + (int)(v[t] - (1ull << 40));
}
""",
    ),
    Construct(
        "atomics of a block",
        r"""
__global__ void k(int* out) {
  __shared__ int n;
  if (threadIdx.x == 0) n = 0;
  __syncthreads();
  atomicAdd_block(&n, 1);
  __syncthreads();
  out[threadIdx.x] = threadIdx.x + n - 63;
}
""",
    ),
    Construct(
        "shuffles",
        r"""
__global__ void k(int* out) {
  int t = threadIdx.x, v = t;
  v = __shfl_xor_sync(~0u, v, 5);
  v = __shfl_xor_sync(~0u, v, 5);
  int up = __shfl_up_sync(~0u, t, 1);
  int first = __shfl_sync(~0u, t, 0);
  out[t] = v + 1 + (t % 32 ? up - (t - 1) : up - t) + first - t / 32 * 32;
}
""",
    ),
    Construct(
        "shuffles in segments",
        r"""
__global__ void k(int* out) {
  int t = threadIdx.x;
  int first = __shfl_sync(~0u, t, 0, 8);
  int down = __shfl_down_sync(~0u, t, 2, 4);
  int wanted = t % 4 < 2 ? t + 2 : t;
  out[t] = first + t % 8 + 1 + (down - wanted);
}
""",
    ),
    Construct(
        "shuffle of double",
        r"""
__global__ void k(int* out) {
  double v = threadIdx.x + 0.5;
  v = __shfl_down_sync(~0u, __shfl_up_sync(~0u, v, 0), 0);
  out[threadIdx.x] = (int)(v + 0.5);
}
""",
    ),
    Construct(
        "votes",
        r"""
__global__ void k(int* out) {
  int t = threadIdx.x;
  unsigned b = __ballot_sync(~0u, t % 2 == 0);
  int all = __all_sync(~0u, t >= 0), any = __any_sync(~0u, t == 1000);
  out[t] = t + (b == 0x55555555u) + all - 1 + any;
}
""",
    ),
    Construct(
        "matches",
        r"""
__global__ void k(int* out) {
  int t = threadIdx.x, all = 9;
  unsigned same = __match_any_sync(~0u, t % 4);
  unsigned m = __match_all_sync(~0u, 7, &all);
  out[t] = t + (same == 0x11111111u << t % 4) + all - 1 + (m != ~0u);
}
""",
    ),
    Construct(
        "reductions",
        r"""
__global__ void k(int* out) {
  int t = threadIdx.x;
  int sum = __reduce_add_sync(~0u, 1), least = __reduce_min_sync(~0u, t % 32 - 5),
      most = __reduce_max_sync(~0u, t % 32);
  unsigned o = __reduce_or_sync(~0u, 1u << t % 32);
  out[t] = t + (sum == 32) + least + 5 + most - 31 + (o != ~0u);
}
""",
    ),
    Construct(
        "partial masks",
        r"""
__global__ void k(int* out) {
  int t = threadIdx.x, lane = t % 32;
  unsigned half = lane < 16 ? 0xffffu : 0xffff0000u;
  int v;
  if (lane < 16)
    v = __shfl_sync(half, t, 3);
  else
    v = __shfl_sync(half, t, 20);
  __syncwarp(half);
  out[t] = t + 1 + v - (t / 32 * 32 + (lane < 16 ? 3 : 20));
}
""",
    ),
    Construct(
        "active mask",
        r"""
__global__ void k(int* out) {
  int t = threadIdx.x;
  unsigned m = 0;
  if (t % 2)
    m = __activemask();
  else
    m = 0xaaaaaaaau;
  out[t] = t + (m == 0xaaaaaaaau);
}
""",
        note="lanes that arrive together are those that stand at the same line",
    ),
    Construct(
        "return before a barrier",
        r"""
__global__ void k(int* out) {
  int t = threadIdx.x;
  out[t] = t + 1;
  if (t >= 40) return;
  __shared__ int s[64];
  s[t] = t;
  __syncthreads();
  out[39 - t] = s[39 - t] + 1;
}
""",
    ),
    Construct(
        "return before a shuffle",
        r"""
__global__ void k(int* out) {
  int t = threadIdx.x;
  out[t] = t + 1;
  if (t % 32 >= 7) return;
  int v = __shfl_down_sync(~0u, t, 1);
  if (t % 32 < 6) out[t] = v;
}
""",
        note="lanes that have ended count as arrived",
    ),
    Construct(
        "counting barriers",
        r"""
__global__ void k(int* out) {
  int t = threadIdx.x;
  int n = __syncthreads_count(t % 2), a = __syncthreads_and(t >= 0),
      o = __syncthreads_or(t == 99);
  out[t] = t + (n == 32) + a - 1 + o;
}
""",
    ),
    Construct(
        "barrier in a loop",
        r"""
__global__ void k(int* out) {
  __shared__ int s;
  int t = threadIdx.x;
  for (int i = 0; i < 50; ++i) {
    if (t == i) s = i;
    __syncthreads();
    if (s != i) out[t] = -7;
    __syncthreads();
  }
  if (out[t] != -7) out[t] = t + 1;
}
""",
    ),
    Construct(
        "barrier through a macro",
        r"""
#define WAIT() __syncthreads()
__global__ void k(int* out) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  WAIT();
  out[63 - threadIdx.x] = s[63 - threadIdx.x] + 1;
}
""",
    ),
    Construct(
        "architecture guard",
        r"""
__global__ void k(int* out) {
#ifdef __CUDA_ARCH__
  out[threadIdx.x] = threadIdx.x + 1;
#endif
}
""",
        note="`__CUDA_ARCH__` is 700 on the CPU",
    ),
    Construct(
        "guarded ptx",
        r"""
__global__ void k(int* out) {
#ifndef SW_CPU
asm volatile("bar.sync 0;");
#endif
out[threadIdx.x] = threadIdx.x + 1; }
""",
        note="`SW_CPU` is defined on the CPU",
    ),
    Construct(
        "conditional kernels",
        r"""
#ifdef WIDE
__global__ void k(double* out) {}
#else
__global__ void k(int* out) { out[threadIdx.x] = threadIdx.x + 1; }
#endif
""",
    ),
    Construct(
        "toolkit headers",
        r"""
#include <cuda_runtime.h>
#include "device_launch_parameters.h"
#include <cuda_fp16.h>
#include <math_constants.h>
__global__ void k(int* out) { out[threadIdx.x] = threadIdx.x + (int)(CUDART_PI_F / 3); }
""",
    ),
    Construct(
        "library headers",
        r"""
#include <cmath>
#include <math.h>
#include <cstdint>
#include <stdint.h>
#include <cstdio>
#include <stdio.h>
#include <cassert>
#include <assert.h>
#include <cfloat>
#include <climits>
#include <cstddef>
#include <cstring>
__global__ void k(int* out) {
  std::int32_t one = (std::int32_t)std::sqrt(1.0f);
  out[threadIdx.x] = threadIdx.x + one + (FLT_MAX < 0) + (INT_MAX < 0);
}
""",
    ),
    Construct(
        "type traits of the system",
        r"""
#include <type_traits>
#include <limits>
#include <utility>
__global__ void k(int* out) {
  static_assert(std::is_same<int, int>::value, "");
  out[threadIdx.x] = threadIdx.x + (std::numeric_limits<float>::max() > 0);
}
""",
        note="on a GPU by the headers of CCCL, where they are installed",
    ),
    Construct(
        "half precision",
        r"""
#include <cuda_fp16.h>
__global__ void k(int* out) {
  half a = __float2half(0.5f), b = a + a;
  half2 c = __hadd2(make_half2(a, b), make_half2(b, a));
  out[threadIdx.x] =
      threadIdx.x + (int)__half2float(b) + (int)(__low2float(c) - __high2float(c));
}
""",
        note="rounded after each operation",
    ),
    Construct(
        "bfloat16",
        r"""
#include <cuda_bf16.h>
__global__ void k(int* out) {
  __nv_bfloat16 a = __float2bfloat16(0.5f);
  out[threadIdx.x] = threadIdx.x + (int)__bfloat162float(a + a);
}
""",
    ),
    Construct(
        "complex numbers",
        r"""
#include <cuComplex.h>
__global__ void k(int* out) {
  cuFloatComplex i = make_cuFloatComplex(0, 1);
  out[threadIdx.x] = threadIdx.x - (int)cuCrealf(cuCmulf(i, i));
}
""",
    ),
    Construct(
        "cooperative block and tiles",
        r"""
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(int* out) {
  cg::thread_block b = cg::this_thread_block();
  auto w = cg::tiled_partition<32>(b);
  __shared__ int s[64];
  s[b.thread_rank()] = w.shfl(threadIdx.x, 0) + w.thread_rank();
  b.sync();
  out[63 - threadIdx.x] =
      s[63 - threadIdx.x] + (w.size() == 32 && w.all(1) && b.size() == 64);
}
""",
    ),
    Construct(
        "cooperative small tiles",
        r"""
#include <cooperative_groups.h>
using namespace cooperative_groups;
__global__ void k(int* out) {
  auto t4 = tiled_partition<4>(this_thread_block());
  int v = 1;
  for (int d = 2; d > 0; d /= 2) v += t4.shfl_down(v, d);
  v = t4.shfl(v, 0);
  t4.sync();
  out[threadIdx.x] = threadIdx.x + v - 3 + (t4.meta_group_rank() != threadIdx.x / 4);
}
""",
    ),
    Construct(
        "coalesced threads",
        r"""
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(int* out) {
  int t = threadIdx.x;
  out[t] = t;
  if (t % 2) {
    auto g = cg::coalesced_threads();
    out[t] += g.size() == 16 && g.thread_rank() == t % 32 / 2;
  } else
    out[t] += 1;
}
""",
    ),
    Construct(
        "math functions",
        r"""
__global__ void k(int* out) {
  float s, c;
  sincosf(0.0f, &s, &c);
  out[threadIdx.x] =
      threadIdx.x +
      (int)(c + s + 0.5f * (__expf(0.0f) - 1) + sinpif(1.0f) + cospif(0.5f) +
            fdividef(0.0f, 2.0f) + __saturatef(-3.0f) + fminf(0, 1) + fmaxf(0.0f, -1.0f) +
            powf(0.0f, 2.0f) + fmod(0.0, 3.0) + max(0, -2) + min(0u, 5u) + abs(0) +
            fabs(0.0) + rsqrtf(1.0f) - 1 + exp10f(0.0f) - 1 + norm3df(0, 0, 0) +
            normcdff(0.0f) - 0.5f + erff(0.0f) + log1pf(0.0f) + cbrtf(0.0f) + hypotf(0, 0) +
            ldexpf(0.0f, 3));
}
""",
    ),
    Construct(
        "integer intrinsics",
        r"""
__global__ void k(int* out) {
  unsigned x = 0x80000001u;
  out[threadIdx.x] =
      threadIdx.x + (__popc(x) == 2 && __clz(1) == 31 && __clz(0) == 32 && __ffs(0) == 0 &&
                     __ffs(8) == 4 && __brev(1u) == 0x80000000u &&
                     __byte_perm(0x03020100u, 0x07060504u, 0x7410u) == 0x07040100u &&
                     __funnelshift_l(0x80000000u, 1u, 1u) == 3u &&
                     __mulhi(1 << 30, 4) == 1 && __umul24(3u, 5u) == 15u &&
                     __sad(3, 5, 1u) == 3u && __clzll(1ll) == 63 && __popcll(~0ull) == 64);
}
""",
    ),
    Construct(
        "integer division without a result",
        r"""
__global__ void k(int* out) {
  const int zero = out[threadIdx.x] + 1, minus_one = zero - 1;
  out[threadIdx.x] = threadIdx.x + 2 + (int)threadIdx.x / zero;
  if ((-2147483647 - 1) / minus_one != -2147483647 - 1) out[threadIdx.x] = 0;
}
""",
        note="by zero all bits are set; the least number by -1 wraps around",
    ),
    Construct(
        "conversion intrinsics",
        r"""
__global__ void k(int* out) {
  out[threadIdx.x] =
      threadIdx.x + (__float2int_rn(2.5f) == 2 && __float2int_ru(2.1f) == 3 &&
                     __float2int_rd(-2.1f) == -3 && __float2int_rz(1e20f) == 2147483647 &&
                     __float2uint_rz(-5.0f) == 0u && __float_as_int(1.0f) == 0x3f800000 &&
                     __int_as_float(0) == 0.0f && __double2hiint(1.0) == 0x3ff00000 &&
                     __hiloint2double(0x3ff00000, 0) == 1.0);
}
""",
    ),
    Construct(
        "rounded arithmetic",
        r"""
__global__ void k(int* out) {
  float a = 1.0f + 1e-7f;
  float p = __fmul_rn(a, a);
  out[threadIdx.x] = threadIdx.x + (__fsub_rn(p, p) == 0.0f && __fadd_rn(1, 2) == 3 &&
                                    __fdiv_rn(6, 3) == 2 && __fsqrt_rn(4) == 2 &&
                                    __frcp_rn(4) == 0.25f && __fmaf_rn(2, 3, 4) == 10);
}
""",
    ),
    Construct(
        "clocks and fences",
        r"""
__global__ void k(int* out) {
  long long t = clock64();
  __threadfence();
  __threadfence_block();
  __nanosleep(10);
  out[threadIdx.x] = threadIdx.x + (clock64() >= t);
}
""",
        note="the processor's time stamp counter",
    ),
    Construct(
        "warp size",
        r"""
__global__ void k(int* out) {
  __shared__ int s[32];
  s[threadIdx.x % warpSize] = 1;
  __syncthreads();
  out[threadIdx.x] = threadIdx.x + s[0] + (warpSize != 32);
}
""",
    ),
    Construct(
        "type punning",
        r"""
__global__ void k(int* out) {
  float f = 1.0f;
  int bits = *(int*)&f;
  *(float*)&out[threadIdx.x] = 0;
  out[threadIdx.x] = threadIdx.x + (bits == 0x3f800000);
}
""",
    ),
    Construct(
        "macros named like ours",
        r"""
#define T int
#define N 64
#define SwT 3
#define x y
__global__ void k(T* out) { T x[N]; x[0] = 1; out[threadIdx.\
x] = 0; }
#undef x
__global__ void fine(T* out) { out[threadIdx.x] = threadIdx.x + 1; }
""",
        name="fine",
    ),
    Construct(
        "struct arguments",
        r"""
struct Pair {
  char key;
  float value;
};
__global__ void k(int* out, Pair p) {
  out[threadIdx.x] = threadIdx.x + p.key * (int)p.value;
}
""",
        arguments=(PAIR[0],),
    ),
    Construct(
        "grid constant",
        r"""
struct Table {
  int entries[4];
};
__global__ void k(int* out, const __grid_constant__ Table t) {
  out[threadIdx.x] = threadIdx.x + t.entries[threadIdx.x % 4];
}
""",
        arguments=(TABLE[0],),
    ),
    Construct(
        "templates by name expression",
        r"""
template <class T, int N>
__global__ void scale(T* out) {
  out[threadIdx.x] = threadIdx.x + N;
}
""",
        name="scale<int, 1>",
    ),
    Construct(
        "full specialisation",
        r"""
template <class T>
__global__ void k(T* out) {
  out[threadIdx.x] = -1;
}
template <>
__global__ void k<int>(int* out) {
  out[threadIdx.x] = threadIdx.x + 1;
}
""",
        name="k<int>",
    ),
    Construct(
        "atomics 16 bit",
        r"""
__global__ void k(int* out) {
  __shared__ unsigned short s[64];
  s[threadIdx.x] = 7;
  atomicCAS(&s[threadIdx.x], (unsigned short)7, (unsigned short)1);
  out[threadIdx.x] = threadIdx.x + s[threadIdx.x];
}
""",
    ),
    Construct(
        "asynchronous copies",
        r"""
#include <cuda_pipeline.h>
__device__ int4 table[2][32];
__global__ void k(int* out) {
  __shared__ int4 stage[2][32];
  int t = threadIdx.x, lane = t % 32, half = t / 32;
  table[half][lane] = make_int4(t, 1, 2, 3);
  __syncthreads();
  for (int s = 0; s < 2; ++s) {
    if (half == s) __pipeline_memcpy_async(&stage[s][lane], &table[s][lane], 16, s == 0 ? 8 : 0);
    __pipeline_commit();
  }
  __pipeline_wait_prior(1);
  __pipeline_wait_prior(0);
  __syncthreads();
  int4 got = stage[1 - half][31 - lane];
  bool same = got.x == 32 * (1 - half) + 31 - lane && got.y == 1 && got.z == (half ? 0 : 2);
  out[t] = same ? t + 1 : -1;
}
""",
    ),
    Construct(
        "cluster and register bounds",
        r"""
__global__ void __cluster_dims__(1, 1, 1) other(int* out) { out[0] = 0; }
__global__ void __maxnreg__(64) k(int* out) { out[threadIdx.x] = threadIdx.x + 1; }
""",
    ),
    Construct(
        "wide shuffle",
        r"""
struct S { double a, b; int c; };
__global__ void k(int* out) {
  int t = threadIdx.x;
  S s = {t + 0.5, t + 1.0, t + 2};
#ifdef SW_CPU
  s = __shfl_xor_sync(~0u, s, 1);
#else
  s = {(t ^ 1) + 0.5, (t ^ 1) + 1.0, (t ^ 1) + 2};
#endif
  int other = t ^ 1;
  out[t] = s.a == other + 0.5 && s.b == other + 1.0 && s.c == other + 2 ? t + 1 : 0;
}
""",
        note="of any size on the CPU; a GPU moves 8 bytes",
    ),
    Construct(
        "shuffles and votes without masks",
        r"""
#ifdef SW_CPU
__global__ void k(int* out) {
  int t = threadIdx.x, sum = 1, ok = 1;
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down(sum, step);
  ok &= __shfl(t, 3) == (t & ~31) + 3;
  ok &= __shfl_up(t, 1, 16) == (t % 16 == 0 ? t : t - 1);
  ok &= __ballot(t % 2) == 0xaaaaaaaau;
  ok &= __all(t < 64);
  ok &= !__any(t > 63);
  if (t % 2 == 0) ok &= __shfl_xor(t, 2) == (t ^ 2);
  if (t % 32 == 0) ok &= sum == 32;
  out[t] = ok ? t + 1 : 0;
}
#else
__global__ void k(int* out) { out[threadIdx.x] = threadIdx.x + 1; }
#endif
""",
        note="CUDA 8's names, which newer GPUs no longer have",
    ),
    Construct(
        "cooperative reductions and scans",
        r"""
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
__global__ void k(int* out) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<16> tile = cg::tiled_partition<16>(block);
  int t = threadIdx.x, r = t % 16, ok = 1;
  ok &= cg::reduce(tile, r, cg::plus<int>()) == 120;
  ok &= cg::reduce(tile, t, cg::greater<int>()) == t - r + 15;
  ok &= cg::reduce(tile, 1 << r, cg::bit_or<int>()) == 0xffff;
  ok &= cg::inclusive_scan(tile, r) == r * (r + 1) / 2;
  ok &= cg::exclusive_scan(tile, r, cg::plus<int>()) == r * (r - 1) / 2;
  out[t] = ok ? t + 1 : 0;
}
""",
    ),
    Construct(
        "asynchronous copies of groups",
        r"""
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;
__device__ int table[64];
__global__ void k(int* out) {
  __shared__ int whole[64], part[2][32];
  cg::thread_block block = cg::this_thread_block();
  auto tile = cg::tiled_partition<32>(block);
  int t = threadIdx.x, half = t / 32;
  table[t] = t;
  __threadfence();
  cg::sync(block);
  cg::memcpy_async(block, whole, table, sizeof(table));
  cg::memcpy_async(tile, part[half], 32, table + 32 * half, 16);
  cg::wait(block);
  cg::wait(tile);
  int lane = t % 32, other = whole[63 - t] == 63 - t;
  out[t] = other && (lane >= 16 || part[half][15 - lane] == 32 * half + 15 - lane) ? t + 1 : 0;
}
""",
    ),
    Construct(
        "cooperative groups by label",
        r"""
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__device__ int size_of(cg::thread_group g) { g.sync(); return g.size(); }
__global__ void k(int* out) {
  cg::thread_block block = cg::this_thread_block();
  auto tile = cg::tiled_partition<32>(block);
  int t = threadIdx.x, ok = size_of(block) == 64 && size_of(tile) == 32;
  auto thirds = cg::labeled_partition(tile, (int)(t % 32 < 8));
  ok &= (int)thirds.size() == (t % 32 < 8 ? 8 : 24);
  out[t] = ok ? t + 1 : 0;
}
""",
    ),
    Construct(
        "grid group",
        r"""
#include <cooperative_groups.h>
__global__ void k(int* out) {
  cooperative_groups::grid_group grid = cooperative_groups::this_grid();
#ifdef SW_CPU
  grid.sync();
#endif
  out[grid.thread_rank()] = (int)grid.size() - 63 + (int)grid.thread_rank();
}
""",
        note="sync() needs a grid of one block on the CPU",
    ),
    Construct(
        "reductions and scans of CUB",
        r"""
#include <cub/cub.cuh>
struct Later {
  int total;
  __device__ int operator()(int sum) { int before = total; total += sum; return before; }
};
__global__ void k(int* out) {
  typedef cub::BlockReduce<int, 64> Reduce;
  typedef cub::BlockScan<int, 64> Scan;
  __shared__ typename Reduce::TempStorage sums;
  __shared__ typename Scan::TempStorage scans;
  __shared__ typename cub::WarpReduce<float>::TempStorage warps[2];
  __shared__ typename cub::WarpScan<int, 16>::TempStorage parts[4];
  int t = threadIdx.x, ok = 1, before, through, total, pair[2] = {2 * t, 2 * t + 1};
  int sum = Reduce(sums).Sum(t);
  __syncthreads();
  int most = Reduce(sums).Reduce(pair, [](int a, int b) { return a > b ? a : b; });
  if (t == 0) ok &= sum == 2016 && most == 127;
  Scan(scans).ExclusiveSum(t, before, total);
  ok &= before == t * (t - 1) / 2 && total == 2016;
  __syncthreads();
  Later later{100};
  Scan(scans).ExclusiveSum(1, before, later);
  ok &= before == 100 + t;
  __syncthreads();
  Scan(scans).InclusiveScan(pair, pair, [](int a, int b) { return a > b ? a : b; });
  ok &= pair[0] == 2 * t && pair[1] == 2 * t + 1;
  float of_warp = cub::WarpReduce<float>(warps[t / 32]).Sum(1.0f + t % 32);
  if (t % 32 == 0) ok &= of_warp == 528;
  cub::WarpScan<int, 16>(parts[t / 16]).InclusiveSum(1, through);
  ok &= through == t % 16 + 1;
  out[t] = ok ? t + 1 : 0;
}
""",
        note="on the CPU by small replacements of CUB's primitives of blocks and warps",
    ),
    Construct(
        "loads, stores and sorts of CUB",
        r"""
#include <cub/cub.cuh>
__device__ float keys[256];
__device__ int tags[256];
__global__ void k(int* out) {
  typedef cub::BlockLoad<float, 64, 4, cub::BLOCK_LOAD_TRANSPOSE> Load;
  typedef cub::BlockRadixSort<float, 64, 4, int> Sort;
  typedef cub::BlockExchange<int, 64, 4> Exchange;
  typedef cub::BlockStore<int, 64, 4, cub::BLOCK_STORE_STRIPED> Store;
  __shared__ union {
    typename Load::TempStorage load;
    typename Sort::TempStorage sort;
    typename Exchange::TempStorage exchange;
    typename Store::TempStorage store;
  } temp;
  int t = threadIdx.x, tag[4];
  for (int i = t; i < 256; i += 64) keys[i] = (i * 37 % 256) - 128.5f;
  __threadfence();
  __syncthreads();
  float key[4];
  Load(temp.load).Load(keys, key, 254, 500.0f);
  for (int i = 0; i < 4; ++i) tag[i] = 4 * t + i;
  __syncthreads();
  Sort(temp.sort).Sort(key, tag);
  __syncthreads();
  int ok = 1;
  for (int i = 0; i < 4; ++i)
    ok &= tag[i] >= 254 ? key[i] == 500 : key[i] == (tag[i] * 37 % 256) - 128.5f;
  for (int i = 1; i < 4; ++i) ok &= key[i - 1] <= key[i];
  Exchange(temp.exchange).BlockedToStriped(tag, tag);
  __syncthreads();
  Store(temp.store).Store(tags, tag);
  __threadfence();
  __syncthreads();
  for (int i = t; i > 0 && i < 254; i += 64) ok &= tags[i - 1] * 37 % 256 < tags[i] * 37 % 256;
  out[t] = ok ? t + 1 : 0;
}
""",
    ),
    Construct(
        "function objects and tuples of Thrust",
        r"""
#include <thrust/functional.h>
#include <thrust/tuple.h>
__global__ void k(int* out) {
  int t = threadIdx.x;
  auto pair = thrust::make_tuple(thrust::plus<int>()(t, 3), thrust::maximum<float>()(t, 1.5f));
  bool ok = thrust::get<0>(pair) == t + 3 && thrust::get<1>(pair) == (t > 1 ? t : 1.5f);
  out[t] = ok ? t + 1 : 0;
}
""",
        note="on the CPU with the headers of CCCL, where they are installed",
    ),
    Construct(
        "sequential algorithms of Thrust",
        r"""
#ifdef SW_CPU
#include <thrust/complex.h>
#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>
__device__ bool holds(int t) {
  float values[4] = {t + 0.5f, 3, -t - 0.5f, 1};
  thrust::sort(thrust::seq, values, values + 4);
  float sum = thrust::reduce(thrust::seq, values, values + 4, 0.0f, thrust::plus<float>());
  thrust::complex<float> z(t, 1);
  return values[0] == -t - 0.5f && sum == 4 && (z * thrust::conj(z)).real() == t * t + 1.0f;
}
#else
__device__ bool holds(int) { return true; }
#endif
__global__ void k(int* out) { out[threadIdx.x] = holds(threadIdx.x) ? threadIdx.x + 1 : 0; }
""",
        note="on the CPU with the headers of CCCL; NVRTC does not compile them",
    ),
    Construct(
        "names of types from glibc",
        r"""
__global__ void k(int* out) {
  const uint t = threadIdx.x;
  const ushort one = 1;
  ulong sum = t + one;
  out[t] = (int)sum;
}
""",
    ),
    Construct(
        "comparisons of pairs of halves",
        r"""
#include <cuda_fp16.h>
__global__ void k(int* out) {
  int t = threadIdx.x;
  half2 a = __floats2half2_rn(t, 5), b = __floats2half2_rn(7, 5);
  half2 less = __hlt2(a, b), equal = __heq2(a, b);
  bool ok = __low2float(less) == (t < 7) && __high2float(less) == 0;
  ok &= __low2float(equal) == (t == 7) && __high2float(equal) == 1;
  ok &= __hble2(a, b) == (t <= 7) && __hbgt2(a, b) == false;
  out[t] = ok ? t + 1 : 0;
}
""",
    ),
    Construct(
        "libcu++",
        r"""
#include <cuda/atomic>
#include <cuda/std/array>
#include <cuda/std/complex>
#include <cuda/std/limits>
#include <cuda/std/tuple>
__device__ int total;
__global__ void k(int* out) {
  int t = threadIdx.x;
  cuda::atomic_ref<int, cuda::thread_scope_device> sum(total);
  if (t == 0) sum.store(0);
  __syncthreads();
  sum.fetch_add(t, cuda::std::memory_order_relaxed);
  __syncthreads();
  cuda::std::complex<double> z(t, 2);
  cuda::std::array<int, 3> a{1, 2, t};
  auto [first, last] = cuda::std::make_tuple(a[0], a.back());
  bool ok = sum.load() == 2016 && cuda::std::norm(z) == t * t + 4.0 && first + last == t + 1;
  out[t] = ok && cuda::std::numeric_limits<int>::max() > t ? t + 1 : 0;
}
""",
        note="on the CPU with the headers of CCCL, where they are installed",
    ),
    Construct(
        "random numbers of cuRAND",
        r"""
#ifdef SW_CPU
#include <curand_kernel.h>
__device__ unsigned first(int) {
  curandState state;
  curand_init(1234, 3, 5, &state);
  return curand(&state);
}
__device__ unsigned first(long) {
  curandStatePhilox4_32_10_t state;
  curand_init(1234, 3, 5, &state);
  return curand(&state);
}
#else
__device__ unsigned first(int) { return 3857148075u; }
__device__ unsigned first(long) { return 347447205u; }
#endif
__global__ void k(int* out) {
  bool ok = first(0) == 3857148075u && first(0l) == 347447205u;
  out[threadIdx.x] = ok ? threadIdx.x + 1 : 0;
}
""",
        note="XORWOW and Philox4x32-10",
    ),
    Construct(
        "constants of the C library",
        r"""
#include <math.h>
#include <stdint.h>
__global__ void k(int* out) {
#ifdef SW_CPU
  bool ok = INFINITY > 1e30f && !(NAN == NAN) && M_PI / 2 == M_PI_2 && HUGE_VAL > 1e300 &&
            INT64_MAX == 9223372036854775807 && UINT32_C(7) == 7 && sizeof(int_least16_t) == 2;
#else
  bool ok = INT64_MAX == 9223372036854775807;
#endif
  out[threadIdx.x] = ok ? threadIdx.x + 1 : 0;
}
""",
    ),
    Construct(
        "ptx of one instruction",
        r"""
__global__ void k(int* out) {
  unsigned lane, below, high, bits;
  float root;
  int t = threadIdx.x;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
  asm("bfind.u32 %0, %1;" : "=r"(high) : "r"(t + 1));
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(bits) : "r"(0x11223344), "r"(0x55667788), "r"(0x0123));
  asm("sqrt.approx.ftz.f32 %0, %1;\n\t" : "=f"(root) : "f"(16.0f));
  asm volatile("membar.gl;" ::: "memory");
  bool ok = lane == t % 32 && below == (1u << t % 32) - 1 && (t + 1) >> high == 1;
  ok &= bits == 0x44332211u && root > 3.999f && root < 4.001f;
  unsigned field, mixed, logic, shifted, sum;
  int sign;
  asm("bfe.u32 %0, %1, %2, %3;" : "=r"(field) : "r"(0xabcd0000u + t), "r"(16), "r"(8));
  asm("bfe.s32 %0, %1, %2, %3;" : "=r"(sign) : "r"(0xabcd0000u), "r"(24), "r"(8));
  asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(mixed) : "r"(0xffu), "r"(t << 16), "r"(4), "r"(8));
  asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(logic) : "r"(t), "r"(12), "r"(10));
  asm("shf.l.wrap.b32 %0, %1, %2, %3;" : "=r"(shifted) : "r"(0xf0000000u), "r"(t), "r"(4));
  asm("mad.lo.u32 %0, %1, %2, %3;" : "=r"(sum) : "r"(t), "r"(3), "r"(5));
  ok &= field == 0xcdu && sign == (int)0xffffffab && mixed == (t << 16 | 0xff0);
  ok &= logic == (t ^ 12 ^ 10) && shifted == (t << 4 | 15) && sum == 3 * t + 5;
  asm volatile("st.release.gpu.global.u32 [%1], %0;" ::"r"(t + 9), "l"(out + t) : "memory");
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(sum) : "l"(out + t) : "memory");
  ok &= sum == t + 9;
  out[t] = ok ? t + 1 : 0;
}
""",
        note="special registers, bit operations, approximate math, loads and fences",
    ),
    Construct(
        "dynamic shared in a macro",
        r"""
#define ROW(T, name) \
  extern __shared__ T name[]; \
  name[threadIdx.x] = threadIdx.x + 1;
__global__ void k(int* out) {
  ROW(int, row)
  __syncthreads();
  out[threadIdx.x] = row[threadIdx.x];
}
""",
    ),
]

REFUSALS = [
    Refusal(
        "inline ptx",
        r"""
__global__ void k(int* out) {
  asm volatile("bar.sync 0;");
}
""",
        (
            "kernel.cu:2",
            "PTX",
            'asm "bar.sync 0"',
            "SW_CPU",
        ),
    ),
    Refusal(
        "dynamic parallelism",
        r"""
__global__ void a() {}
__global__ void k(int* out) {
  a<<<1, 32>>>();
}
""",
        (
            "kernel.cu:3",
            "<<<",
        ),
    ),
    Refusal(
        "mipmapped textures",
        r"""
__global__ void k(float* out, cudaTextureObject_t t) {
  out[0] = tex2DLod<float>(t, 0, 0, 1);
}
""",
        (
            "kernel.cu:2",
            "texture fetches of levels of detail",
        ),
    ),
    Refusal(
        "cubemap surfaces",
        r"""
__global__ void k(unsigned long long s) {
  surfCubemapwrite(1, s, 0, 0, 0);
}
""",
        (
            "kernel.cu:2",
            "cubemap surfaces",
        ),
    ),
    Refusal(
        "tensor cores",
        r"""
#include <mma.h>
using namespace nvcuda;
__global__ void k() { }
""",
        (
            "kernel.cu:1",
            "mma.h",
        ),
    ),
    Refusal(
        "clusters",
        r"""
#include <cooperative_groups.h>
__global__ void __cluster_dims__(2, 1, 1) k(int* out) {
  cooperative_groups::this_cluster().sync();
}
""",
        (
            "kernel.cu:3",
            "clusters",
        ),
    ),
    Refusal(
        "asynchronous barriers",
        r"""
#include <cuda/barrier>
__global__ void k() {}
""",
        (
            "kernel.cu:1",
            "cuda/barrier",
        ),
    ),
]
