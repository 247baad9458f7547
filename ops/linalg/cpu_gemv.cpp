// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <vector>

#include "product_problem.hpp"
#include "spanwise/runtime/instruction_sets.hpp"
#include "spanwise/runtime/linear_algebra.hpp"
#include "spanwise/runtime/parallel.hpp"

namespace spanwise::ops::linalg {
namespace {

// OpenBLAS computes matrices of more than max_elements elements by all of its threads, which then
// wait for the next call in a loop: ours would have to share processors with them. It takes longer
// than these loops for single sums and for results of up to short_result bytes, and less time for
// many short sums.
constexpr std::int64_t max_elements = 460'000, short_result = 512;
constexpr std::int64_t short_sum = 32, many_sums = 64;
// Elements that are worth a thread, and those of a result that stay in the L1 cache.
constexpr std::int64_t thread_elements = 1 << 16, cached_elements = 1 << 12;
// Rows that the loops compute at a time, and the minimum of rows for which threads share the rows
// instead of the sums.
constexpr std::int64_t unit = 8, shared_rows = 2 * unit;

// A vector times a matrix is the transposed matrix times the vector.
template <class T>
HostGemv<T> gemv_of(const ProductProblem& problem) {
  const Matrix &l = problem.left, &r = problem.right, &z = problem.result;
  const auto at = [](const Matrix& m) { return reinterpret_cast<T*>(m.data); };
  const bool is_column = problem.columns == 1;
  HostGemv<T> gemv =
      is_column
          ? HostGemv<T>{at(l), l.row_stride, l.column_stride, at(r),        r.row_stride,
                        at(z), z.row_stride, problem.rows,    problem.depth}
          : HostGemv<T>{at(r), r.column_stride, r.row_stride,    at(l),        l.column_stride,
                        at(z), z.column_stride, problem.columns, problem.depth};
  gemv.alpha = static_cast<T>(problem.alpha);
  gemv.beta = static_cast<T>(problem.beta);
  gemv.addend = at(problem.addend);
  gemv.addend_stride = is_column ? problem.addend.row_stride : problem.addend.column_stride;
  return gemv;
}

template <class T>
void run_one(const HostGemv<T>& gemv) {
  gemv.column_stride == 1 ? gemv_by_rows(gemv) : gemv_by_columns(gemv);
}

// Threads compute elements of the result, a multiple of `unit` each.
template <class T>
void share_results(const HostGemv<T>& gemv, std::int64_t max_results) {
  const std::int64_t grain = thread_elements / gemv.depth / unit + 1;
  parallel_for((gemv.rows + unit - 1) / unit, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t first = begin * unit; first < end * unit; first += max_results) {
      HostGemv<T> part = gemv;
      part.rows = std::min({max_results, end * unit - first, gemv.rows - first});
      part.matrix += first * gemv.row_stride;
      part.y += first * gemv.y_stride;
      if (part.addend != nullptr) part.addend += first * gemv.addend_stride;
      run_one(part);
    }
  });
}

// Threads compute parts of the sums, which are added afterwards.
template <class T>
void share_sums(const HostGemv<T>& gemv, const GemvParts& parts) {
  std::vector<T> partial(static_cast<std::size_t>(parts.count() * gemv.rows));
  parallel_for(parts.count(), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t first = parts.start(i);
      run_one(HostGemv<T>{.matrix = gemv.matrix + first * gemv.column_stride,
                          .row_stride = gemv.row_stride,
                          .column_stride = gemv.column_stride,
                          .x = gemv.x + first * gemv.x_stride,
                          .x_stride = gemv.x_stride,
                          .y = partial.data() + i * gemv.rows,
                          .rows = gemv.rows,
                          .depth = parts.start(i + 1) - first});
    }
  });
  add_partial_sums(partial.data(), parts.count(), gemv);
}

template <class T>
bool is_faster(const HostGemv<T>& gemv) {
  constexpr auto itemsize = static_cast<std::int64_t>(sizeof(T));
  if (gemv.column_stride != 1 && gemv.rows * itemsize <= short_result) return true;
  if (gemv.rows > many_sums && gemv.depth < short_sum) return false;
  return gemv.rows == 1 || gemv.rows * gemv.depth <= max_elements;
}

template <class T>
bool try_dense(const ProductProblem& problem, GemvSizes sizes) {
  HostGemv<T> gemv = gemv_of<T>(problem);
  const bool by_rows = gemv.column_stride == 1;
  if (!by_rows && gemv.row_stride != 1) return false;
  if (sizes == GemvSizes::where_faster && !is_faster(gemv)) return false;
  std::vector<T> packed;
  if (by_rows && gemv.x_stride != 1) {
    for (std::int64_t p = 0; p < gemv.depth; ++p) packed.push_back(gemv.x[p * gemv.x_stride]);
    gemv.x = packed.data();
    gemv.x_stride = 1;
  }
  // Of each position of a sum, the matrix and the vector are read.
  const GemvParts parts(gemv.depth, (gemv.rows + 1) * static_cast<std::int64_t>(sizeof(T)));
  const bool shares_sums = by_rows ? gemv.rows < shared_rows : gemv.depth >= 32 * parts.count();
  if (parts.count() == 1)
    run_one(gemv);
  else if (shares_sums)
    share_sums(gemv, parts);
  else
    share_results(gemv, by_rows ? gemv.rows : cached_elements);
  return true;
}

}  // namespace

bool gemv_on_cpu(const ProductProblem& problem, GemvSizes sizes) {
  if (problem.batches != 1 || (problem.columns != 1 && problem.rows != 1)) return false;
  if (!has_avx2_and_fma()) return false;
  if (problem.dtype == float32) return try_dense<float>(problem, sizes);
  if (problem.dtype == float64) return try_dense<double>(problem, sizes);
  return false;
}

}  // namespace spanwise::ops::linalg
