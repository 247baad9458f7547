# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Math functions, intrinsics, kernel arguments, templates and asynchronous copies."""

import numpy as np

from .construct import Construct

PAIR = np.zeros(1, np.dtype([("key", "i1"), ("value", "f4")], align=True))
PAIR[0] = (1, 1.0)
TABLE = np.zeros(1, np.dtype([("entries", "i4", 4)]))
TABLE[0]["entries"] = 1

RUNS = [
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
  const int zero = out[threadIdx.x] + 1, minus_one = zero - 1, least = minus_one - 2147483647;
  out[threadIdx.x] = threadIdx.x + 2 + (int)threadIdx.x / zero;
  if (least / minus_one != least) out[threadIdx.x] = 0;
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
  int4 copied = stage[1 - half][31 - lane];
  bool ok = copied.x == 32 * (1 - half) + 31 - lane && copied.y == 1 && copied.z == (half ? 0 : 2);
  out[t] = ok ? t + 1 : -1;
}
""",
    ),
]
