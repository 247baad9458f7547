# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""CUB, Thrust, libcu++, cuRAND, the C library and PTX."""

from .construct import Construct

RUNS = [
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
__device__ bool matches(int t) {
  float values[4] = {t + 0.5f, 3, -t - 0.5f, 1};
  thrust::sort(thrust::seq, values, values + 4);
  float sum = thrust::reduce(thrust::seq, values, values + 4, 0.0f, thrust::plus<float>());
  thrust::complex<float> z(t, 1);
  return values[0] == -t - 0.5f && sum == 4 && (z * thrust::conj(z)).real() == t * t + 1.0f;
}
#else
__device__ bool matches(int) { return true; }
#endif
__global__ void k(int* out) { out[threadIdx.x] = matches(threadIdx.x) ? threadIdx.x + 1 : 0; }
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
__device__ unsigned xorwow() {
  curandState state;
  curand_init(1234, 3, 5, &state);
  return curand(&state);
}
__device__ unsigned philox() {
  curandStatePhilox4_32_10_t state;
  curand_init(1234, 3, 5, &state);
  return curand(&state);
}
#else
__device__ unsigned xorwow() { return 3857148075u; }
__device__ unsigned philox() { return 347447205u; }
#endif
__global__ void k(int* out) {
  bool ok = xorwow() == 3857148075u && philox() == 347447205u;
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
        "asynchronous barriers",
        r"""
#include <cuda/barrier>
__global__ void k(int* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  __shared__ int tile[64];
  const int t = threadIdx.x;
  if (t == 0) init(&bar, 64);
  __syncthreads();
  cuda::memcpy_async(&tile[t], &out[t], sizeof(int), bar);
  bar.arrive_and_wait();
  tile[t] += 65 - t;
  auto token = bar.arrive();
  bar.wait(static_cast<decltype(token)&&>(token));
  out[63 - t] = tile[t];
}
""",
        note="and `cuda::pipeline`; copies are synchronous",
    ),
    Construct(
        "tensor cores",
        r"""
#include <mma.h>
__global__ void k(int* out) {
  using namespace nvcuda;
  __shared__ half tile[256];
  __shared__ float product[2][256];
  const int t = threadIdx.x;
  for (int i = t; i < 256; i += 64) tile[i] = __float2half(i % 17 == 0 ? 1.0f : 0.0f);
  __syncthreads();
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
  wmma::fill_fragment(c, 0.0f);
  wmma::load_matrix_sync(a, tile, 16);
  wmma::load_matrix_sync(b, tile, 16);
  wmma::mma_sync(c, a, b, c);
  wmma::store_matrix_sync(product[t / 32], c, 16, wmma::mem_row_major);
  __syncthreads();
  out[t] = t + (int)product[t / 32][t % 16 * 17];
}
""",
        note="`nvcuda::wmma`, and `mma.sync` and `ldmatrix` in PTX; not `wgmma`",
    ),
    Construct(
        "ptx of several instructions",
        r"""
__global__ void k(int* out) {
  __shared__ int tile[64];
  const int t = threadIdx.x;
  int reversed;
  asm volatile(
      "{\n\t"
      ".reg .pred p;\n\t"
      ".reg .b32 r;\n\t"
      "sub.s32 r, 63, %1;\n\t"
      "setp.lt.s32 p, r, 0;\n\t"
      "@p mov.s32 r, 0;\n\t"
      "mov.b32 %0, r;\n\t"
      "}"
      : "=r"(reversed) : "r"(t));
  tile[reversed] = reversed + 1;
  if (t < 64) asm volatile("bar.sync 1, 64;" ::: "memory");
  asm volatile("ld.shared.s32 %0, [%1];" : "=r"(out[t]) : "r"((unsigned)__cvta_generic_to_shared(tile + t)));
}
""",
        note="named barriers, vectors, atomics, `cp.async`, addresses of shared memory in 32 bits",
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
