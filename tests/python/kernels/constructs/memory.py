# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Variables of modules, vector types and loads, output, allocation and atomics."""

from .construct import Construct

RUNS = [
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
        note="at most half of the memory, then null",
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
]
