// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "small_gemv.hpp"

#include <cstdint>

#include "spanwise/gemv.hpp"
#include "spanwise/runtime/instruction_sets.hpp"

namespace spanwise::ops::linalg {
namespace {

// A library takes less time for larger matrices, which it reads with all threads, and for many
// short sums.
constexpr std::int64_t most_elements = 1 << 16, short_sum = 32, many_sums = 64;

// A vector times a matrix is the transposed matrix times the vector.
template <class T>
HostGemv<T> gemv_of(const Problem& problem) {
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
bool run_if_dense(const Problem& problem) {
  const HostGemv<T> gemv = gemv_of<T>(problem);
  if (gemv.rows * gemv.depth > most_elements) return false;
  if (gemv.rows > many_sums && gemv.depth < short_sum) return false;
  if (gemv.column_stride == 1)
    gemv_by_rows(gemv);
  else if (gemv.row_stride == 1)
    gemv_by_columns(gemv);
  else
    return false;
  return true;
}

}  // namespace

bool small_gemv(const Problem& problem) {
  if (problem.batches != 1 || (problem.columns != 1 && problem.rows != 1)) return false;
  if (!has_avx2_and_fma()) return false;
  if (problem.dtype == float32) return run_if_dense<float>(problem);
  if (problem.dtype == float64) return run_if_dense<double>(problem);
  return false;
}

}  // namespace spanwise::ops::linalg
