# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""How kernels and device functions are declared."""

from .construct import Construct

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
]
