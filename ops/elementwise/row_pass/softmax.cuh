// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Softmax along one axis of elements without gaps, or with LOGARITHM its logarithm: each element is
// read and written once where its thread keeps it in registers. softmax.cpp defines E, the type of
// the elements, C, the type to compute in, and
// - FORM 0: rows of adjacent elements. GROUP threads, a part of a warp or the whole block, share a
//   row; each has PACKS packs of WIDTH elements in registers. With PACKS 0 it reads the row three
//   times, from the L2 cache after the first.
// - FORM 1: columns. A block has COLUMNS of them side by side; BLOCK / COLUMNS threads share each.
//   With COUNT a thread has all elements of a column, at most COUNT, in registers; else it reads
//   the column twice.
// Sums are in double. A NaN or an infinite maximum makes all results NaN.

__device__ __forceinline__ float exp_of(float x) { return expf(x); }
__device__ __forceinline__ double exp_of(double x) { return exp(x); }

__device__ __forceinline__ C loaded(float x) { return (C)x; }
__device__ __forceinline__ C loaded(double x) { return (C)x; }
__device__ __forceinline__ C loaded(Half x) { return (C)widened(x); }
__device__ __forceinline__ C loaded(BFloat x) { return (C)widened(x); }

template <class Z>
struct Store {
  static __device__ __forceinline__ Z of(C x) { return (Z)x; }
};
template <>
struct Store<Half> {
  static __device__ __forceinline__ Half of(C x) { return narrow_half(x); }
};
template <>
struct Store<BFloat> {
  static __device__ __forceinline__ BFloat of(C x) { return narrow_bfloat(x); }
};

__device__ __forceinline__ C lowest() { return -(C)(1e308 * 10); }
__device__ __forceinline__ C higher(C a, C b) { return b > a ? b : a; }

#if LOGARITHM
__device__ __forceinline__ C factor_of(double sum) { return (C)log(sum); }
__device__ __forceinline__ E result_of(C x, C highest, C factor) {
  return Store<E>::of((x - highest) - factor);
}
#else
__device__ __forceinline__ C factor_of(double sum) { return (C)(1 / sum); }
__device__ __forceinline__ E result_of(C x, C highest, C factor) {
  return Store<E>::of(exp_of(x - highest) * factor);
}
#endif

#if FORM == 0

struct Highest {
  static __device__ __forceinline__ C of(C a, C b) { return higher(a, b); }
};
struct Plus {
  static __device__ __forceinline__ double of(double a, double b) { return a + b; }
};
// The combined values of the threads that share a row, for each of them.
template <class Combine, class T>
__device__ __forceinline__ T of_row(T value) {
#pragma unroll
  for (int distance = (GROUP < 32 ? GROUP : 32) / 2; distance > 0; distance /= 2)
    value = Combine::of(value, __shfl_xor_sync(0xffffffffu, value, distance));
#if GROUP > 32
  __shared__ T warps[GROUP / 32];
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
  __syncthreads();
  value = warps[0];
#pragma unroll
  for (int i = 1; i < GROUP / 32; ++i) value = Combine::of(value, warps[i]);
#endif
  return value;
}

struct alignas(sizeof(E) * WIDTH) Pack {
  E x[WIDTH];
};

extern "C" __global__ void __launch_bounds__(BLOCK)
    run(const E* x, E* z, const long long rows, const int n) {
  const int first = threadIdx.x % GROUP * WIDTH;
  const long long row = (long long)blockIdx.x * (BLOCK / GROUP) + threadIdx.x / GROUP;
  const int count = row < rows ? n : 0;  // all threads take part in of_row()
  const E* const from = x + (count > 0 ? row * n : 0);
  E* const to = z + (count > 0 ? row * n : 0);
  C highest = lowest();
  double sum = 0;
#if PACKS
  C values[PACKS][WIDTH];
#pragma unroll
  for (int k = 0; k < PACKS; ++k) {
    const int at = first + k * (GROUP * WIDTH);
    if (at < count) {
      const Pack pack = *(const Pack*)(from + at);
#pragma unroll
      for (int j = 0; j < WIDTH; ++j) values[k][j] = loaded(pack.x[j]);
    } else {
#pragma unroll
      for (int j = 0; j < WIDTH; ++j) values[k][j] = lowest();
    }
#pragma unroll
    for (int j = 0; j < WIDTH; ++j) highest = higher(highest, values[k][j]);
  }
  highest = of_row<Highest>(highest);
#pragma unroll
  for (int k = 0; k < PACKS; ++k) {
#pragma unroll
    for (int j = 0; j < WIDTH; ++j) {
      const C power = exp_of(values[k][j] - highest);
#if !LOGARITHM
      values[k][j] = power;
#endif
      sum += (double)power;
    }
  }
  const C factor = factor_of(of_row<Plus>(sum));
#pragma unroll
  for (int k = 0; k < PACKS; ++k) {
    const int at = first + k * (GROUP * WIDTH);
    if (at >= count) continue;
    Pack pack;
#pragma unroll
    for (int j = 0; j < WIDTH; ++j) {
#if LOGARITHM
      pack.x[j] = result_of(values[k][j], highest, factor);
#else
      pack.x[j] = Store<E>::of(values[k][j] * factor);
#endif
    }
    *(Pack*)(to + at) = pack;
  }
#else
  for (int at = first; at < count; at += GROUP * WIDTH) {
    const Pack pack = *(const Pack*)(from + at);
#pragma unroll
    for (int j = 0; j < WIDTH; ++j) highest = higher(highest, loaded(pack.x[j]));
  }
  highest = of_row<Highest>(highest);
  for (int at = first; at < count; at += GROUP * WIDTH) {
    const Pack pack = *(const Pack*)(from + at);
#pragma unroll
    for (int j = 0; j < WIDTH; ++j) sum += (double)exp_of(loaded(pack.x[j]) - highest);
  }
  const C factor = factor_of(of_row<Plus>(sum));
  for (int at = first; at < count; at += GROUP * WIDTH) {
    Pack pack = *(const Pack*)(from + at);
#pragma unroll
    for (int j = 0; j < WIDTH; ++j) pack.x[j] = result_of(loaded(pack.x[j]), highest, factor);
    *(Pack*)(to + at) = pack;
  }
#endif
}

#else  // FORM 1

// The maximum of some elements, and the sum of exp(x - maximum).
struct Sums {
  C highest;
  double sum;
};
__device__ __forceinline__ double scaled(const Sums& part, C highest) {
  return part.highest == highest ? part.sum : part.sum * (double)exp_of(part.highest - highest);
}
__device__ __forceinline__ void add(Sums& sums, C x) {
  if (x > sums.highest) {
    sums.sum = sums.sum * (double)exp_of(sums.highest - x) + 1;
    sums.highest = x;
  } else {
    sums.sum += x == sums.highest ? 1 : (double)exp_of(x - sums.highest);
  }
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    run(const E* x, E* z, const long long columns, const int n, const long long step) {
  const long long column = (long long)blockIdx.x * COLUMNS + threadIdx.x % COLUMNS;
  // The columns of one index before the axis are side by side.
  const long long base = column / step * n * step + column % step;
  const int count = column < columns ? n : 0;
#if COUNT
  C values[COUNT], highest = lowest();
#pragma unroll
  for (int i = 0; i < COUNT; ++i) {
    values[i] = i < count ? loaded(x[base + i * step]) : lowest();
    highest = higher(highest, values[i]);
  }
  double sum = 0;
#pragma unroll
  for (int i = 0; i < COUNT; ++i) sum += (double)exp_of(values[i] - highest);
  const C factor = factor_of(sum);
#pragma unroll
  for (int i = 0; i < COUNT; ++i)
    if (i < count) z[base + i * step] = result_of(values[i], highest, factor);
#else
  const int share = threadIdx.x / COLUMNS;
  constexpr int shares = BLOCK / COLUMNS;
  Sums sums = {lowest(), 0};
  for (int i = share; i < count; i += shares) add(sums, loaded(x[base + i * step]));
#if COLUMNS < BLOCK
  __shared__ Sums parts[BLOCK];
  parts[threadIdx.x] = sums;
  __syncthreads();
  C highest = lowest();
  double sum = 0;
  for (int i = 0; i < shares; ++i)
    highest = higher(highest, parts[threadIdx.x % COLUMNS + i * COLUMNS].highest);
  for (int i = 0; i < shares; ++i)
    sum += scaled(parts[threadIdx.x % COLUMNS + i * COLUMNS], highest);
#else
  const C highest = sums.highest;
  double sum = sums.sum;
#endif
  sum += (double)(highest - highest);
  const C factor = factor_of(sum);
  for (int i = share; i < count; i += shares)
    z[base + i * step] = result_of(loaded(x[base + i * step]), highest, factor);
#endif
}

#endif
