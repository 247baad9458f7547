# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Headers of the toolkit and of the system: numbers, complex numbers, cooperative groups."""

from .construct import Construct

RUNS = [
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
]
