// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Reductions of any layout, of rows, and of columns, with the functions of reduce_common.cuh.

#if FORM == 0
// Any layout: single elements, counted over the reduced axes.
__device__ __forceinline__ A element_at(const JobArrays& arrays, const JobAxes& axes, JobOffsets at,
                                        Index i, P p) {
  move_reduced(at, axes, i);
#if HAS_MASK
  if (!arrays.mask[at.mask]) return Body::identity();
#endif
#if GIVES_INDEX
  return Body::transform(element_of(arrays, at), p, at.index);
#else
  return Body::transform(element_of(arrays, at), p);
#endif
}
__device__ __forceinline__ A piece_of(const JobArrays& arrays, const JobAxes& axes, JobOffsets at,
                                      long long first, long long last, int lane) {
  const P p = param_at(arrays, at);
  A a[BATCH];
#pragma unroll
  for (int k = 0; k < BATCH; ++k) a[k] = Body::identity();
  long long i = first + lane;
  for (; i + (BATCH - 1) * GROUP < last; i += BATCH * GROUP)
#pragma unroll
    for (int k = 0; k < BATCH; ++k)
      a[k] = Body::combine(a[k], element_at(arrays, axes, at, (Index)(i + k * GROUP), p));
  for (; i < last; i += GROUP)
    a[0] = Body::combine(a[0], element_at(arrays, axes, at, (Index)i, p));
#pragma unroll
  for (int k = 1; k < BATCH; ++k) a[0] = Body::combine(a[0], a[k]);
  return a[0];
}
#endif

#if FORM == 1
// Contiguous elements, read 16 bytes at a time from the first aligned address on.
struct Row {
  const JobArrays& arrays;
  JobOffsets first;

  __device__ __forceinline__ Row(const JobArrays& all, const JobOffsets& at, long long begin)
      : arrays(all), first(at) {
    move_along(first, begin);
  }
  // The number of elements before the first aligned one, at most n. Operands of computed elements
  // are all aligned, or WIDTH is 1.
  __device__ __forceinline__ long long head(long long n) const {
#if OPERANDS
    return 0;
#else
    const long long head =
        (long long)((16 - ((unsigned long long)(arrays.input + first.input) & 15)) & 15) /
        (long long)sizeof(E);
    return head < n ? head : n;
#endif
  }
  __device__ __forceinline__ E element(long long i) const {
    JobOffsets at = first;
    move_along(at, i);
    return element_of(arrays, at);
  }
  __device__ __forceinline__ Pack pack(long long i) const {
    JobOffsets at = first;
    move_along(at, i);
    return pack_at(arrays, at);
  }
};

#if GIVES_INDEX
// The best value of a thread and its number, counted from the first element of the piece, with
// which all threads start. A thread visits elements in the order of their indices, so one replaces
// the best only if it is better.
struct Partial {
  Body::Of::Acc value;
  Index number;

  __device__ __forceinline__ void begin(const Row& row, P) {
    value = Body::Of::transform(row.element(0), P());
    number = 0;
  }
  __device__ __forceinline__ void add(E x, Index i, P) {
    const Body::Of::Acc next = Body::Of::transform(x, P());
    const bool is_better = Body::replaces(value, next);
    value = is_better ? next : value;
    number = is_better ? i : number;
  }
  __device__ __forceinline__ A result(const JobAxes& axes, const JobOffsets& at,
                                      long long first) const {
    const A a = {value, at.index + (first + (long long)number) * axes.axis[KEPT].index};
    return a;
  }
};
#else
struct Partial {
  A value;

  __device__ __forceinline__ void begin(const Row&, P) { value = Body::identity(); }
  __device__ __forceinline__ void add(E x, Index, P p) {
    value = Body::combine(value, Body::transform(x, p));
  }
  __device__ __forceinline__ A result(const JobAxes&, const JobOffsets&, long long) const {
    return value;
  }
};
#endif
__device__ __forceinline__ A piece_of(const JobArrays& arrays, const JobAxes& axes, JobOffsets at,
                                      long long first, long long last, int lane) {
  const P p = param_at(arrays, at);
  const Row row(arrays, at, first);
  const long long n = last - first, head = row.head(n);
  Partial partial[BATCH];
#pragma unroll
  for (int k = 0; k < BATCH; ++k) partial[k].begin(row, p);
  for (long long i = lane; i < head; i += GROUP) partial[0].add(row.element(i), (Index)i, p);
  const long long count = (n - head) / WIDTH;
  long long i = lane;
  for (; i + (BATCH - 1) * GROUP < count; i += BATCH * GROUP) {
    Pack pack[BATCH];
#pragma unroll
    for (int k = 0; k < BATCH; ++k) pack[k] = row.pack(head + (i + k * GROUP) * WIDTH);
#pragma unroll
    for (int k = 0; k < BATCH; ++k)
#pragma unroll
      for (int w = 0; w < WIDTH; ++w)
        partial[k].add(value_of(arrays, pack[k], w), (Index)(head + (i + k * GROUP) * WIDTH + w),
                       p);
  }
  for (; i < count; i += GROUP) {
    const Pack pack = row.pack(head + i * WIDTH);
#pragma unroll
    for (int w = 0; w < WIDTH; ++w)
      partial[0].add(value_of(arrays, pack, w), (Index)(head + i * WIDTH + w), p);
  }
  for (long long j = head + count * WIDTH + lane; j < n; j += GROUP)
    partial[0].add(row.element(j), (Index)j, p);
  A a = partial[0].result(axes, at, first);
#pragma unroll
  for (int k = 1; k < BATCH; ++k) a = Body::combine(a, partial[k].result(axes, at, first));
  return a;
}
#endif

#if FORM == 0 || FORM == 1
extern "C" __global__ void __launch_bounds__(BLOCK)
    run(const JobArrays arrays, A* parts, const JobAxes axes, const OutputSplit split) {
  const long long task = (long long)blockIdx.x * (BLOCK / GROUP) + threadIdx.x / GROUP;
  const int lane = threadIdx.x % GROUP;
  const bool has_task = task < split.outputs * split.pieces;
  // Neighbouring groups have neighbouring outputs, which may be neighbours in memory.
  const long long output = has_task ? task % split.outputs : 0,
                  piece = has_task ? task / split.outputs : 0;
  A a = Body::identity();
  if (has_task) {
    const long long first = piece * split.piece;
    long long last = first + split.piece;
    if (last > split.elements) last = split.elements;
    a = piece_of(arrays, axes, kept_at(axes, (Index)output), first, last, lane);
  }
  a = reduce_group<GROUP>(a);
  if (!has_task || lane != 0) return;
  if (split.pieces == 1)
    finish_output(arrays, axes, (Index)output, a);
  else
    parts[output * split.pieces + piece] = a;
}
#endif

#if FORM == 2
// The axis with the shortest steps is kept: a thread has WIDTH adjacent outputs, and each of ROWS
// threads reads every ROWS-th row of them.
#define COLUMNS 32
#define ROWS (BLOCK / COLUMNS)
__device__ __forceinline__ Pack row_at(const JobArrays& arrays, const JobAxes& axes, JobOffsets at,
                                       Index row) {
  move_reduced(at, axes, row);
  return pack_at(arrays, at);
}
extern "C" __global__ void __launch_bounds__(BLOCK)
    run(const JobArrays arrays, A* parts, const JobAxes axes, const OutputSplit split) {
  const long long columns = axes.axis[KEPT - 1].extent;
  const long long tiles = (columns + COLUMNS * WIDTH - 1) / (COLUMNS * WIDTH);
  const long long piece = blockIdx.x % split.pieces, tile = blockIdx.x / split.pieces;
  const int x = threadIdx.x % COLUMNS, y = threadIdx.x / COLUMNS;
  const long long column = (tile % tiles * COLUMNS + x) * WIDTH;
  const long long output = tile / tiles * columns + column;
  // WIDTH divides the columns, so that a thread has all of its outputs or none.
  const bool has_task = column < columns;
  A a[WIDTH];
#pragma unroll
  for (int w = 0; w < WIDTH; ++w) a[w] = Body::identity();
  if (has_task) {
    P p[WIDTH];
#pragma unroll
    for (int w = 0; w < WIDTH; ++w) p[w] = param_at(arrays, kept_at(axes, (Index)(output + w)));
    const JobOffsets at = kept_at(axes, (Index)output);
    long long last = (piece + 1) * split.piece;
    if (last > split.elements) last = split.elements;
    long long row = piece * split.piece + y;
    for (; row + (BATCH - 1) * ROWS < last; row += BATCH * ROWS) {
      Pack pack[BATCH];
#pragma unroll
      for (int k = 0; k < BATCH; ++k) pack[k] = row_at(arrays, axes, at, (Index)(row + k * ROWS));
#pragma unroll
      for (int k = 0; k < BATCH; ++k)
#pragma unroll
        for (int w = 0; w < WIDTH; ++w)
          a[w] = Body::combine(a[w], Body::transform(value_of(arrays, pack[k], w), p[w]));
    }
    for (; row < last; row += ROWS) {
      const Pack pack = row_at(arrays, axes, at, (Index)row);
#pragma unroll
      for (int w = 0; w < WIDTH; ++w)
        a[w] = Body::combine(a[w], Body::transform(value_of(arrays, pack, w), p[w]));
    }
  }
  __shared__ A row_results[ROWS][COLUMNS * WIDTH];
#pragma unroll
  for (int w = 0; w < WIDTH; ++w) row_results[y][w * COLUMNS + x] = a[w];
  __syncthreads();
  if (y != 0 || !has_task) return;
#pragma unroll
  for (int w = 0; w < WIDTH; ++w) {
    A sum = row_results[0][w * COLUMNS + x];
    for (int r = 1; r < ROWS; ++r) sum = Body::combine(sum, row_results[r][w * COLUMNS + x]);
    if (split.pieces == 1)
      finish_output(arrays, axes, (Index)(output + w), sum);
    else
      parts[(output + w) * split.pieces + piece] = sum;
  }
}
#endif

#if FORM < 3
// Combines the partial results of each output, with one warp per output.
extern "C" __global__ void __launch_bounds__(BLOCK)
    fold(const JobArrays arrays, const A* parts, const JobAxes axes, const OutputSplit split) {
  const long long output = (long long)blockIdx.x * (BLOCK / 32) + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const bool has_task = output < split.outputs;
  A a = Body::identity();
  if (has_task)
    for (long long i = lane; i < split.pieces; i += 32)
      a = Body::combine(a, parts[output * split.pieces + i]);
  a = reduce_group<32>(a);
  if (has_task && lane == 0) finish_output(arrays, axes, (Index)output, a);
}
#endif
