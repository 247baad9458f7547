# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Warp operations, barriers and conditional code."""

from .construct import Construct

RUNS = [
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
  int expected = t % 4 < 2 ? t + 2 : t;
  out[t] = first + t % 8 + 1 + (down - expected);
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
        note="`__CUDA_ARCH__` is 800 on the CPU",
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
]
