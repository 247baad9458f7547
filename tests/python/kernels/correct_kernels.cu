// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
// Kernels without faults, for test_kernel_check_correct.py. Each takes ARGS, three arrays of n = 256
// elements, and runs in 4 blocks of 64 threads; I is the thread's index in the grid, T in its block.

#include <cooperative_groups.h>
namespace cg = cooperative_groups;
#define I (blockIdx.x * blockDim.x + threadIdx.x)
#define T threadIdx.x
#define ARGS int *x, float *f, float *g, int n

__constant__ float weights[3] = {0.25f, 0.5f, 0.25f};
__device__ int calls;
__device__ int done;
__device__ float table[8];
__device__ int lock;
struct Point { float a, b; __device__ float sum() const { return a + b; } };
template <class V> __device__ V twice(V v) { return v + v; }
typedef float (*Step)(float);
__device__ float half_of(float v) { return v / 2; }
__device__ float third_of(float v) { return v / 3; }
__device__ Step steps[2] = {half_of, third_of};

// ---- one element a thread ----
__global__ void scale(ARGS) { f[I] = 2.5f * f[I]; }
__global__ void axpy(ARGS) { f[I] = f[I] * 0.1f + g[I] * 0.7f - 1.0f; }
__global__ void guarded(ARGS) { int i = I + 64; if (i < n) f[i] = g[i]; }
__global__ void early_return(ARGS) { if (I >= 100) return; f[I] = g[I] + 1; }
__global__ void functions(ARGS) { f[I] = sinf(f[I]) + sqrtf(fabsf(g[I])) + expf(-f[I]); }
__global__ void strided_loop(ARGS) {
  for (int i = I; i < n; i += gridDim.x * blockDim.x / 2) f[i / 2 * 2 + i % 2] = g[i];
}
__global__ void grid_stride(ARGS) { for (int i = I; i < n; i += 256) x[i] += i; }
__global__ void reversed(ARGS) { f[n - 1 - I] = g[I]; }
__global__ void gather(ARGS) { f[I] = g[x[I] % n]; }
__global__ void scatter(ARGS) { f[(I * 7) % n] = g[I]; }
__global__ void transposed(ARGS) { f[I % 16 * 16 + I / 16] = g[I]; }
__global__ void stencil(ARGS) {
  int i = I;
  if (i > 0 && i + 1 < n)
    f[i] = weights[0] * g[i - 1] + weights[1] * g[i] + weights[2] * g[i + 1];
}
__global__ void pairs(ARGS) { ((float2 *)f)[I / 2] = make_float2(1.0f, 2.0f); }
__global__ void vector_loads(ARGS) {
  if (I < 64) { float4 v = ((float4 *)g)[I]; f[I] = v.x + v.y + v.z + v.w; }
}
__global__ void bytes(ARGS) { ((char *)x)[I * 4 + 1] = (char)I; ((char *)x)[I * 4 + 3] = 1; }
__global__ void shorts(ARGS) { ((short *)x)[2 * I] = I; ((short *)x)[2 * I + 1] = -I; }
__global__ void objects(ARGS) { Point p{f[I], g[I]}; f[I] = p.sum(); }
__global__ void templated(ARGS) { f[I] = twice(f[I]); x[I] = twice(x[I]); }
__global__ void local_arrays(ARGS) {
  float v[8];
  for (int k = 0; k < 8; ++k) v[k] = g[(I + k) % n];
  for (int k = 1; k < 8; ++k) v[0] += v[k];
  f[I] = v[0];
}
__global__ void integers(ARGS) { x[I] = (x[I] / 3) % 5 + (x[I] << 2) - __popc(x[I]); }
__global__ void pointers(ARGS) { float *p = f + I; const float *q = g + n - 1 - I; *p += *q; }
__global__ void function_table(ARGS) { f[I] = steps[I % 2](g[I]); }
__global__ void lambdas(ARGS) {
  auto add = [&](int i) { if (i >= n) return; f[i] += 1; };
  add(I);
}
__global__ void copies(ARGS) { if (I % 4 == 0) memcpy(f + I, g + I, 16); }
__global__ void clears(ARGS) { if (I % 64 == 0) memset(f + I, 0, 256); }

// ---- shared memory ----
__global__ void swapped(ARGS) {
  __shared__ float s[64];
  s[T] = f[I];
  __syncthreads();
  f[I] = s[63 - T];
}
__global__ void reduced(ARGS) {
  __shared__ float s[64];
  s[T] = g[I];
  __syncthreads();
  for (int k = 32; k > 0; k /= 2) {
    if (T < k) s[T] += s[T + k];
    __syncthreads();
  }
  if (T == 0) f[blockIdx.x] = s[0];
}
__global__ void scanned(ARGS) {
  __shared__ int s[2][64];
  int in = 0;
  s[0][T] = x[I];
  __syncthreads();
  for (int k = 1; k < 64; k *= 2, in = 1 - in) {
    s[1 - in][T] = s[in][T] + (T >= k ? s[in][T - k] : 0);
    __syncthreads();
  }
  x[I] = s[in][T];
}
__global__ void scanned_in_place(ARGS) {
  __shared__ int s[64];
  s[T] = x[I];
  for (int k = 1; k < 64; k *= 2) {
    __syncthreads();
    int v = T >= k ? s[T - k] : 0;
    __syncthreads();
    s[T] += v;
  }
  x[I] = s[T];
}
__global__ void halo(ARGS) {
  __shared__ float s[66];
  s[T + 1] = g[I];
  if (T == 0) s[0] = I > 0 ? g[I - 1] : 0;
  if (T == 63) s[65] = I + 1 < n ? g[I + 1] : 0;
  __syncthreads();
  f[I] = s[T] + s[T + 1] + s[T + 2];
}
__global__ void tile(ARGS) {
  __shared__ float s[8][9];
  s[T / 8][T % 8] = g[I];
  __syncthreads();
  f[I] = s[T % 8][T / 8];
}
__global__ void dynamic(ARGS) {
  extern __shared__ float d[];
  d[T] = g[I];
  __syncthreads();
  f[I] = d[(T + 1) % 64];
}
__global__ void partly_filled(ARGS) {
  __shared__ float s[64];
  if (T < 50) s[T] = g[I];
  __syncthreads();
  if (T < 50) f[I] = s[49 - T];
}
__global__ void return_before_barrier(ARGS) {
  __shared__ float s[64];
  if (T >= 32) return;
  s[T] = g[I];
  __syncthreads();
  f[I] = s[31 - T];
}
__global__ void same_value(ARGS) {
  __shared__ int any;
  any = 0;
  __syncthreads();
  if (x[I] % 2) any = 1;
  __syncthreads();
  x[I] = any;
}
__global__ void broadcast(ARGS) {
  __shared__ float first;
  if (T == 0) first = g[I];
  __syncthreads();
  f[I] = first;
}
__global__ void rounds(ARGS) {
  __shared__ float s[64];
  float sum = 0;
  for (int k = 0; k < 4; ++k) {
    s[T] = g[64 * k + T];
    __syncthreads();
    for (int i = 0; i < 64; ++i) sum += s[i];
    __syncthreads();
  }
  f[I] = sum;
}
__global__ void bins(ARGS) {
  __shared__ int bin[8];
  if (T < 8) bin[T] = 0;
  __syncthreads();
  atomicAdd(&bin[x[I] & 7], 1);
  __syncthreads();
  if (T < 8) x[blockIdx.x * 64 + T] = bin[T];
}
__global__ void sorted(ARGS) {
  __shared__ int s[64];
  s[T] = x[I];
  for (int size = 2; size <= 64; size *= 2)
    for (int k = size / 2; k > 0; k /= 2) {
      __syncthreads();
      int partner = T ^ k;
      if (partner > T && (s[T] > s[partner]) == ((T & size) == 0)) {
        int v = s[T]; s[T] = s[partner]; s[partner] = v;
      }
    }
  __syncthreads();
  x[I] = s[T];
}
__global__ void votes(ARGS) {
  int odd = __syncthreads_count(x[I] & 1);
  int all = __syncthreads_and(x[I] >= 0), any = __syncthreads_or(x[I] > 200);
  x[I] = odd + 100 * all + 1000 * any;
}
__global__ void struct_shared(ARGS) {
  __shared__ Point p[64];
  p[T] = {f[I], g[I]};
  __syncthreads();
  Point q = p[63 - T];
  f[I] = q.a; g[I] = q.b;
}
__global__ void block_in_shared(ARGS) {
  __shared__ char raw[256];
  int *s = (int *)raw;
  s[T] = x[I];
  __syncthreads();
  x[I] = s[63 - T];
}
