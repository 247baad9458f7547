// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Reductions of any layout, of rows, and of columns, with the functions of reduce_common.cuh.

#if FORM == 0
// Any layout: single elements, counted over the reduced axes.
template <class B>
__device__ __forceinline__ typename B::Acc element_at(const JobArrays& arrays, const JobAxes& axes,
                                                      JobOffsets at, Index i, typename B::Param p) {
  move_reduced(at, axes, i);
#if HAS_MASK
  if (!arrays.mask[at.mask]) return B::identity();
#endif
#if GIVES_INDEX
  return B::transform(element_of(arrays, at), p, at.index);
#else
  return B::transform(element_of(arrays, at), p);
#endif
}
template <class B>
__device__ __forceinline__ typename B::Acc piece_of(const JobArrays& arrays, const JobAxes& axes,
                                                    JobOffsets at, long long first, long long last,
                                                    int lane, typename B::Param p) {
  typename B::Acc a[BATCH];
#pragma unroll
  for (int k = 0; k < BATCH; ++k) a[k] = B::identity();
  long long i = first + lane;
  for (; i + (BATCH - 1) * GROUP < last; i += BATCH * GROUP)
#pragma unroll
    for (int k = 0; k < BATCH; ++k)
      a[k] = B::combine(a[k], element_at<B>(arrays, axes, at, (Index)(i + k * GROUP), p));
  // The rest is loaded before it is combined, too: many outputs have a few elements only.
  typename B::Acc rest[BATCH - 1];
#pragma unroll
  for (int k = 0; k < BATCH - 1; ++k)
    rest[k] = i + k * GROUP < last ? element_at<B>(arrays, axes, at, (Index)(i + k * GROUP), p)
                                   : B::identity();
#pragma unroll
  for (int k = 0; k < BATCH - 1; ++k) a[k] = B::combine(a[k], rest[k]);
#pragma unroll
  for (int k = 1; k < BATCH; ++k) a[0] = B::combine(a[0], a[k]);
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
template <class B>
struct Partial {
  typename B::Of::Acc value;
  Index number;

  __device__ __forceinline__ void begin(const Row& row, P) {
    value = B::Of::transform(row.element(0), P());
    number = 0;
  }
  __device__ __forceinline__ void add(E x, Index i, P) {
    const typename B::Of::Acc next = B::Of::transform(x, P());
    const bool is_better = B::replaces(value, next);
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
template <class B>
struct Partial {
  typename B::Acc value;

  __device__ __forceinline__ void begin(const Row&, typename B::Param) { value = B::identity(); }
  __device__ __forceinline__ void add(E x, Index, typename B::Param p) {
    value = B::combine(value, B::transform(x, p));
  }
  __device__ __forceinline__ typename B::Acc result(const JobAxes&, const JobOffsets&,
                                                    long long) const {
    return value;
  }
};
#endif
template <class B>
__device__ __forceinline__ typename B::Acc piece_of(const JobArrays& arrays, const JobAxes& axes,
                                                    JobOffsets at, long long first, long long last,
                                                    int lane, typename B::Param p) {
  const Row row(arrays, at, first);
  const long long n = last - first, head = row.head(n);
  Partial<B> partial[BATCH];
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
  Pack rest[BATCH - 1];
#pragma unroll
  for (int k = 0; k < BATCH - 1; ++k)
    if (i + k * GROUP < count) rest[k] = row.pack(head + (i + k * GROUP) * WIDTH);
#pragma unroll
  for (int k = 0; k < BATCH - 1; ++k) {
    if (i + k * GROUP >= count) break;
#pragma unroll
    for (int w = 0; w < WIDTH; ++w)
      partial[k].add(value_of(arrays, rest[k], w), (Index)(head + (i + k * GROUP) * WIDTH + w), p);
  }
  for (long long j = head + count * WIDTH + lane; j < n; j += GROUP)
    partial[0].add(row.element(j), (Index)j, p);
  typename B::Acc a = partial[0].result(axes, at, first);
#pragma unroll
  for (int k = 1; k < BATCH; ++k) a = B::combine(a, partial[k].result(axes, at, first));
  return a;
}
#endif

#if FORM == 0 || FORM == 1
#if OWN_MEAN
// The mean of the elements of each group of threads, for all threads of the group.
__device__ __forceinline__ P mean_of(P sum, double count) {
  sum = divided(reduce_group<Sum<P>, GROUP>(sum), count);
#if GROUP > 32
  __shared__ P mean;
  if (threadIdx.x == 0) mean = sum;
  __syncthreads();
  return mean;
#else
  return shuffle_from(sum, (int)(threadIdx.x % 32) / GROUP * GROUP);
#endif
}
#endif
extern "C" __global__ void __launch_bounds__(BLOCK)
    run(const JobArrays arrays, A* parts, const JobAxes axes, const OutputSplit split) {
  const long long task = (long long)blockIdx.x * (BLOCK / GROUP) + threadIdx.x / GROUP;
  const int lane = threadIdx.x % GROUP;
  const bool has_task = task < split.outputs * split.pieces;
  // Neighbouring groups have neighbouring outputs, which may be neighbours in memory.
  const long long output = has_task ? task % split.outputs : 0,
                  piece = has_task ? task / split.outputs : 0;
  const JobOffsets at = kept_at(axes, (Index)output);
  const long long first = piece * split.piece;
  long long last = has_task ? first + split.piece : first;
  if (last > split.elements) last = split.elements;
#if OWN_MEAN
  P sum = Sum<P>::identity();
  if (has_task) sum = piece_of<Sum<P> >(arrays, axes, at, first, last, lane, NoParam());
  const P p = mean_of(sum, count_at(arrays, at));
#else
  const P p = param_at(arrays, at);
#endif
  A a = Body::identity();
  if (has_task) a = piece_of<Body>(arrays, axes, at, first, last, lane, p);
  a = reduce_group<Body, GROUP>(a);
  if (!has_task || lane != 0) return;
  if (split.pieces == 1)
    finish_output(arrays, axes, (Index)output, a);
  else
    parts[output * split.pieces + piece] = a;
}
#endif

#if FORM == 2
// The axis with the shortest steps is kept: a thread has WIDTH adjacent outputs, and each of GROUP
// threads reads every GROUP-th row of them.
#define ROWS GROUP
#define COLUMNS (BLOCK / ROWS)
__device__ __forceinline__ Pack row_at(const JobArrays& arrays, const JobAxes& axes, JobOffsets at,
                                       Index row) {
  move_reduced(at, axes, row);
  return pack_at(arrays, at);
}
#if GIVES_INDEX
// The best values of the rows of this thread, those from `row` on, and their indices. One replaces
// the best only if it is better, since rows are visited in the order of their indices.
__device__ __forceinline__ void find_best(const JobArrays& arrays, const JobAxes& axes,
                                          const JobOffsets& at, long long row, long long last,
                                          A* a) {
#pragma unroll
  for (int w = 0; w < WIDTH; ++w) a[w] = Body::identity();
  if (row >= last) return;
  Body::Of::Acc best[WIDTH];
  Index rows[WIDTH];
  const Pack first = row_at(arrays, axes, at, (Index)row);
#pragma unroll
  for (int w = 0; w < WIDTH; ++w) {
    best[w] = Body::Of::transform(value_of(arrays, first, w), P());
    rows[w] = (Index)row;
  }
  row += ROWS;
  for (; row < last; row += BATCH * ROWS) {
    Pack pack[BATCH];
#pragma unroll
    for (int k = 0; k < BATCH; ++k)
      if (row + k * ROWS < last) pack[k] = row_at(arrays, axes, at, (Index)(row + k * ROWS));
#pragma unroll
    for (int k = 0; k < BATCH; ++k) {
      if (row + k * ROWS >= last) break;
#pragma unroll
      for (int w = 0; w < WIDTH; ++w) {
        const Body::Of::Acc next = Body::Of::transform(value_of(arrays, pack[k], w), P());
        const bool is_better = Body::replaces(best[w], next);
        best[w] = is_better ? next : best[w];
        rows[w] = is_better ? (Index)(row + k * ROWS) : rows[w];
      }
    }
  }
#pragma unroll
  for (int w = 0; w < WIDTH; ++w) {
    JobOffsets found = at;
    move_reduced(found, axes, rows[w]);
    a[w].value = best[w];
    a[w].index = found.index;
  }
}
#endif
// Combines the rows of this thread, those from `row` on.
template <class B>
__device__ __forceinline__ void add_rows(const JobArrays& arrays, const JobAxes& axes,
                                         const JobOffsets& at, long long row, long long last,
                                         const typename B::Param* p, typename B::Acc* a) {
  for (; row + (BATCH - 1) * ROWS < last; row += BATCH * ROWS) {
    Pack pack[BATCH];
#pragma unroll
    for (int k = 0; k < BATCH; ++k) pack[k] = row_at(arrays, axes, at, (Index)(row + k * ROWS));
#pragma unroll
    for (int k = 0; k < BATCH; ++k)
#pragma unroll
      for (int w = 0; w < WIDTH; ++w)
        a[w] = B::combine(a[w], B::transform(value_of(arrays, pack[k], w), p[w]));
  }
  Pack rest[BATCH - 1];
#pragma unroll
  for (int k = 0; k < BATCH - 1; ++k)
    if (row + k * ROWS < last) rest[k] = row_at(arrays, axes, at, (Index)(row + k * ROWS));
#pragma unroll
  for (int k = 0; k < BATCH - 1; ++k) {
    if (row + k * ROWS >= last) break;
#pragma unroll
    for (int w = 0; w < WIDTH; ++w)
      a[w] = B::combine(a[w], B::transform(value_of(arrays, rest[k], w), p[w]));
  }
}
// The combined values of the threads that share columns, for the first of these threads. All
// threads of the block call it.
template <class B>
__device__ __forceinline__ void combine_rows(typename B::Acc* a) {
  if (ROWS == 1) return;
  __shared__ typename B::Acc row_results[ROWS][COLUMNS * WIDTH];
  const int x = threadIdx.x % COLUMNS, y = threadIdx.x / COLUMNS;
#pragma unroll
  for (int w = 0; w < WIDTH; ++w) row_results[y][w * COLUMNS + x] = a[w];
  __syncthreads();
  if (y != 0) return;
#pragma unroll
  for (int w = 0; w < WIDTH; ++w)
    for (int r = 1; r < ROWS; ++r) a[w] = B::combine(a[w], row_results[r][w * COLUMNS + x]);
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
  const JobOffsets at = kept_at(axes, (Index)(has_task ? output : 0));
  long long last = (piece + 1) * split.piece;
  if (last > split.elements) last = split.elements;
  const long long row = has_task ? piece * split.piece + y : last;
  P p[WIDTH];
#if OWN_MEAN
  typedef Sum<P> Total;
  NoParam none[WIDTH];
#pragma unroll
  for (int w = 0; w < WIDTH; ++w) p[w] = Total::identity();
  add_rows<Total>(arrays, axes, at, row, last, none, p);
  combine_rows<Total>(p);
  __shared__ P means[COLUMNS * WIDTH];
#pragma unroll
  for (int w = 0; w < WIDTH; ++w)
    if (y == 0)
      means[w * COLUMNS + x] =
          divided(p[w], count_at(arrays, kept_at(axes, (Index)(has_task ? output + w : 0))));
  __syncthreads();
#pragma unroll
  for (int w = 0; w < WIDTH; ++w) p[w] = means[w * COLUMNS + x];
#else
#pragma unroll
  for (int w = 0; w < WIDTH; ++w)
    p[w] = param_at(arrays, kept_at(axes, (Index)(has_task ? output + w : 0)));
#endif
  A a[WIDTH];
#if GIVES_INDEX
  find_best(arrays, axes, at, row, last, a);
#else
#pragma unroll
  for (int w = 0; w < WIDTH; ++w) a[w] = Body::identity();
  add_rows<Body>(arrays, axes, at, row, last, p, a);
#endif
  combine_rows<Body>(a);
  if (y != 0 || !has_task) return;
#pragma unroll
  for (int w = 0; w < WIDTH; ++w) {
    if (split.pieces == 1)
      finish_output(arrays, axes, (Index)(output + w), a[w]);
    else
      parts[(output + w) * split.pieces + piece] = a[w];
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
  a = reduce_group<Body, 32>(a);
  if (has_task && lane == 0) finish_output(arrays, axes, (Index)output, a);
}
#endif
