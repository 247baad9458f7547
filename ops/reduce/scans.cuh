// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Scans, by the parts of parts.cuh.

#if FORM == 3
// A line, cut in chunks of BLOCK * EACH elements.
#define EACH 8
struct Line {
  long long lines, length, step, result_step, chunks;
};

// What the threads before this one have, and (in `all`) what the block has.
__device__ __forceinline__ A before_thread(A a, A& all) {
  __shared__ A sums[2][BLOCK];
  int now = 0;
  sums[0][threadIdx.x] = a;
  __syncthreads();
  for (int distance = 1; distance < BLOCK; distance *= 2) {
    A sum = sums[now][threadIdx.x];
    if ((int)threadIdx.x >= distance) sum = Body::combine(sums[now][threadIdx.x - distance], sum);
    sums[1 - now][threadIdx.x] = sum;
    now = 1 - now;
    __syncthreads();
  }
  all = sums[now][BLOCK - 1];
  const A before = threadIdx.x > 0 ? sums[now][threadIdx.x - 1] : Body::identity();
  __syncthreads();
  return before;
}

// The sum of each chunk.
extern "C" __global__ void __launch_bounds__(BLOCK)
    totals(const E* input, A* parts, const Axes axes, const Line line) {
  const long long number = blockIdx.x / line.chunks, chunk = blockIdx.x % line.chunks;
  const E* x = input + kept_at(axes, (Index)number).input;
  const long long first = chunk * BLOCK * EACH;
  A a = Body::identity();
  for (int k = 0; k < EACH; ++k) {
    const long long i = first + k * BLOCK + threadIdx.x;
    if (i < line.length) a = Body::combine(a, Body::lift(x[i * line.step], P()));
  }
  a = joined<BLOCK>(a);
  if (threadIdx.x == 0) parts[blockIdx.x] = a;
}
// Each chunk's sum becomes that of the chunks before it; a block for each line.
extern "C" __global__ void __launch_bounds__(BLOCK) carries(A* parts, const Line line) {
  A* const own = parts + blockIdx.x * line.chunks;
  A carry = Body::identity();
  for (long long first = 0; first < line.chunks; first += BLOCK) {
    const long long i = first + threadIdx.x;
    A all;
    const A a = i < line.chunks ? own[i] : Body::identity();
    const A before = Body::combine(carry, before_thread(a, all));
    if (i < line.chunks) own[i] = before;
    carry = Body::combine(carry, all);
  }
}
// The sums themselves; `parts` is null where a line is one chunk.
extern "C" __global__ void __launch_bounds__(BLOCK)
    run(const E* input, Z* result, const A* parts, const Axes axes, const Line line) {
  const long long number = blockIdx.x / line.chunks, chunk = blockIdx.x % line.chunks;
  const Offsets at = kept_at(axes, (Index)number);
  const E* x = input + at.input;
  Z* z = result + at.result;
  const long long first = (chunk * BLOCK + threadIdx.x) * EACH;
  A sums[EACH], sum = Body::identity();
#pragma unroll
  for (int k = 0; k < EACH; ++k) {
    if (first + k < line.length)
      sum = Body::combine(sum, Body::lift(x[(first + k) * line.step], P()));
    sums[k] = sum;
  }
  A all, before = before_thread(sum, all);
  if (parts != nullptr) before = Body::combine(parts[blockIdx.x], before);
#pragma unroll
  for (int k = 0; k < EACH; ++k)
    if (first + k < line.length)
      z[(first + k) * line.result_step] = Store<Z>::from(Body::combine(before, sums[k]));
}
// A thread for each line, where there are many.
extern "C" __global__ void __launch_bounds__(BLOCK)
    lines(const E* input, Z* result, const Axes axes, const Line line) {
  const long long number = (long long)blockIdx.x * BLOCK + threadIdx.x;
  if (number >= line.lines) return;
  const Offsets at = kept_at(axes, (Index)number);
  A sum = Body::identity();
  for (long long i = 0; i < line.length; ++i) {
    sum = Body::combine(sum, Body::lift(input[at.input + i * line.step], P()));
    result[at.result + i * line.result_step] = Store<Z>::from(sum);
  }
}
#endif
