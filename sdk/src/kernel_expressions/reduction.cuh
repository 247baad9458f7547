// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
// Reductions with the user's code. Before this text are sw_acc, the accumulator; sw_reduce(a, b),
// which combines two; sw_index, which counts elements; and the walks over the results and over the
// elements of one result. Kernels pass `map`, which computes the value at the offsets of an
// element, and `finish`, which writes a result.

/// What both kernels of a reduction get. The fold combines `length` parts.
struct sw_reduction {
  const sw_kept_walk& kept;
  const sw_reduced_walk& reduced;
  long long results, length, part_length, per_block;
  sw_acc* parts;

  // The elements of part blockIdx.y.
  __device__ __forceinline__ long long first() const { return blockIdx.y * part_length; }
  __device__ __forceinline__ long long end() const {
    return first() + part_length < length ? first() + part_length : length;
  }
  // Stores a result, or that of a part.
  template <bool folds, class Finish, class Offsets>
  __device__ __forceinline__ void store(const Finish& finish, const Offsets& kept_at,
                                        long long result, sw_acc a) const {
    if (folds || gridDim.y == 1)
      finish(kept_at, a);
    else
      parts[blockIdx.y * results + result] = a;
  }
};

#ifdef SW_ADJACENT

/// The offset of operand k at an element of a result.
template <class Kept, class Reduced>
struct sw_element_offsets {
  const Kept& kept;
  const Reduced reduced;
  __device__ __forceinline__ long long of(int k) const { return kept.of[k] + reduced.of[k]; }
};

/// A block has one result in each of `adjacent` columns of its threads.
template <bool folds, class Map, class Finish>
__device__ __forceinline__ void sw_reduce_results(const sw_reduction& job, const sw_acc& identity,
                                                  const Map& map, const Finish& finish) {
  constexpr int adjacent = folds ? 1 : SW_ADJACENT, depth = SW_THREADS / adjacent;
  // As bytes, since variables in shared memory must not have constructors.
  __shared__ alignas(16) unsigned char bytes[SW_THREADS * sizeof(sw_acc)];
  sw_acc* const tile = (sw_acc*)bytes;
  const int y = threadIdx.x / adjacent;
  const sw_index result = (sw_index)blockIdx.x * adjacent + threadIdx.x % adjacent;
  const long long first = folds ? 0 : job.first(), end = folds ? job.length : job.end();
  const bool has_result = result < (sw_index)job.results;
  const auto kept = spanwise::walk_offsets<sw_index>(job.kept, has_result ? result : 0);
  const auto value = [&](long long r) -> sw_acc {
    if constexpr (folds) {
      return job.parts[r * job.results + (long long)result];
    } else {
      const auto reduced = spanwise::walk_offsets<sw_index>(job.reduced, (sw_index)r);
      return map(sw_element_offsets<decltype(kept), decltype(reduced)>{kept, reduced});
    }
  };
  if (has_result && first + y < end) {
    long long r = first + y;
    sw_acc a = value(r);
#pragma unroll 4
    for (r += depth; r < end; r += depth) a = sw_reduce(a, value(r));
    tile[threadIdx.x] = a;
  }
  __syncthreads();
  const long long left = end - first;
#pragma unroll
  for (int half = depth / 2; half > 0; half /= 2) {
    if (has_result && y < half && y + half < left)
      tile[threadIdx.x] = sw_reduce(tile[threadIdx.x], tile[threadIdx.x + half * adjacent]);
    __syncthreads();
  }
  if (has_result && y == 0)
    job.template store<folds>(finish, kept, (long long)result,
                              left > 0 ? tile[threadIdx.x] : identity);
}

#else  // on the CPU a block is a loop over its results, and in it one over elements, in rows

typedef spanwise::StridedRuns<sw_reduced_rank, sw_operands> sw_runs;

/// The offset of operand k at element i of a run, in column c. sw_steps[k] is 0 or 1 where that is
/// the step from one element, or column, to the next.
template <class Kept>
struct sw_element_offsets {
  const Kept& kept;
  const sw_runs& runs;
  const long long* row;
  const sw_kept_walk& columns;
  long long i, c;

  __device__ __forceinline__ long long of(int k) const {
    const long long start = kept.of[k] + row[k];
    if (!SW_BY_COLUMNS) return start + (sw_steps[k] < 2 ? sw_steps[k] * i : runs.step(k) * i);
    const long long step = sw_steps[k] < 2 ? sw_steps[k] : columns.strides[k][sw_kept_rank - 1];
    return start + runs.step(k) * i + step * c;
  }
};

/// Accumulates values one by one.
struct sw_accumulator {
  sw_acc a;
  bool has_value;

  __device__ __forceinline__ void add(const sw_acc& value) {
    a = has_value ? sw_reduce(a, value) : value;
    has_value = true;
  }
};

// Calls use(value, run) for each run of the block's part; value(i, c) is that of an element.
template <class Kept, class Map, class Use>
__device__ __forceinline__ void sw_for_each_run(const sw_reduction& job, const Kept& kept,
                                                const Map& map, const Use& use) {
  for (sw_runs runs(job.reduced, job.first(), job.end()); runs.left > 0; runs.next()) {
    long long row[sw_operands];
    for (int k = 0; k < sw_operands; ++k) row[k] = runs.offset(k);
    const auto value = [&](long long i, long long c) __attribute__((always_inline)) -> sw_acc {
      return map(sw_element_offsets<Kept>{kept, runs, row, job.kept, i, c});
    };
    use(value, runs.count());
  }
}

// Combines a run in independent lanes, which the compiler vectorizes, then the lanes.
template <class Value>
__device__ __forceinline__ void sw_reduce_run(sw_accumulator& total, long long run,
                                              const Value& value) {
  constexpr int lanes = 32;
  long long k = 0;
  if (run >= 2 * lanes) {
    sw_acc lane[lanes];
    for (int l = 0; l < lanes; ++l) lane[l] = value(l, 0);
    for (k = lanes; k + lanes <= run; k += lanes)
      for (int l = 0; l < lanes; ++l) lane[l] = sw_reduce(lane[l], value(k + l, 0));
    for (int half = lanes / 2; half > 0; half /= 2)
      for (int l = 0; l < half; ++l) lane[l] = sw_reduce(lane[l], lane[l + half]);
    total.add(lane[0]);
  }
  for (; k < run; ++k) total.add(value(k, 0));
}

// Computes up to `most` results that are adjacent in memory together, element by element, and
// returns their number.
template <class Map, class Finish>
__device__ __forceinline__ long long sw_reduce_columns(const sw_reduction& job, long long first,
                                                       long long most, const sw_acc& identity,
                                                       const Map& map, const Finish& finish) {
  const long long row = job.kept.shape[sw_kept_rank - 1];
  long long width = row - first % row;
  if (width > most) width = most;
  if (width > SW_COLUMNS) width = SW_COLUMNS;
  sw_acc lane[SW_COLUMNS];
  bool has_value = false;
  sw_for_each_run(job, spanwise::walk_offsets<sw_index>(job.kept, first), map,
                  [&](const auto& value, long long run) __attribute__((always_inline)) {
                    for (long long k = 0; k < run; ++k) {
                      if (has_value)
                        for (long long c = 0; c < width; ++c)
                          lane[c] = sw_reduce(lane[c], value(k, c));
                      else
                        for (long long c = 0; c < width; ++c) lane[c] = value(k, c);
                      has_value = true;
                    }
                  });
  for (long long c = 0; c < width; ++c)
    job.store<false>(finish, spanwise::walk_offsets<sw_index>(job.kept, first + c), first + c,
                     has_value ? lane[c] : identity);
  return width;
}

template <bool folds, class Map, class Finish>
__device__ __forceinline__ void sw_reduce_results(const sw_reduction& job, const sw_acc& identity,
                                                  const Map& map, const Finish& finish) {
  const long long from = (long long)blockIdx.x * job.per_block;
  const long long to = from + job.per_block < job.results ? from + job.per_block : job.results;
  long long result = from;
  if (SW_BY_COLUMNS && !folds)
    while (result < to)
      result += sw_reduce_columns(job, result, to - result, identity, map, finish);
  for (; result < to; ++result) {
    const auto kept = spanwise::walk_offsets<sw_index>(job.kept, result);
    sw_accumulator total = {identity, false};
    if constexpr (folds)
      for (long long r = 0; r < job.length; ++r) total.add(job.parts[r * job.results + result]);
    else
      sw_for_each_run(job, kept, map,
                      [&](const auto& value, long long run)
                          __attribute__((always_inline)) { sw_reduce_run(total, run, value); });
    job.template store<folds>(finish, kept, result, total.a);
  }
}

#endif
