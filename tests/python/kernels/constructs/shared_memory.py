# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Shared memory, static and dynamic."""

from .construct import Construct

RUNS = [
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
]
