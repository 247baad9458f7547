// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "small_gemv.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "spanwise/runtime/instruction_sets.hpp"

namespace spanwise::ops::linalg {
namespace {

// A library takes less time for larger matrices, which it reads with all threads, and for many
// short sums.
constexpr std::int64_t most_elements = 1 << 16, short_sum = 32, many_sums = 64;

/// y[i] = alpha * the sum over p of matrix[i, p] * x[p] + beta * addend[i]; strides in elements.
template <class T>
struct Gemv {
  const T* matrix;
  std::int64_t row_stride, column_stride;
  const T* x;
  std::int64_t x_stride;
  T* y;
  std::int64_t y_stride;
  std::int64_t rows, depth;
  T alpha = 1, beta = 0;
  const T* addend = nullptr;
  std::int64_t addend_stride = 0;

  void write(std::int64_t i, T sum) const {
    sum *= alpha;
    y[i * y_stride] = addend == nullptr ? sum : sum + beta * addend[i * addend_stride];
  }
};

#if defined(__x86_64__)
SW_BEGIN_AVX2_FMA
namespace gemv_avx2 {
constexpr int vector_bytes = 32;
#include "small_gemv_loops.inc"
}  // namespace gemv_avx2
SW_END_INSTRUCTIONS
SW_BEGIN_AVX512
namespace gemv_avx512 {
constexpr int vector_bytes = 64;
#include "small_gemv_loops.inc"
}  // namespace gemv_avx512
SW_END_INSTRUCTIONS

template <class T>
void run_by_rows(Gemv<T> gemv) {
  std::vector<T> packed;
  if (gemv.x_stride != 1) {
    for (std::int64_t p = 0; p < gemv.depth; ++p) packed.push_back(gemv.x[p * gemv.x_stride]);
    gemv.x = packed.data();
  }
  has_avx512() ? gemv_avx512::gemv_by_rows(gemv) : gemv_avx2::gemv_by_rows(gemv);
}

template <class T>
void run_by_columns(const Gemv<T>& gemv) {
  if (gemv.y_stride == 1)
    return has_avx512() ? gemv_avx512::gemv_by_columns(gemv) : gemv_avx2::gemv_by_columns(gemv);
  std::vector<T> result(static_cast<std::size_t>(gemv.rows));
  Gemv<T> packed = gemv;
  packed.y = result.data();
  packed.y_stride = 1;
  run_by_columns(packed);
  for (std::int64_t i = 0; i < gemv.rows; ++i)
    gemv.y[i * gemv.y_stride] = result[static_cast<std::size_t>(i)];
}

// A vector times a matrix is the transposed matrix times the vector.
template <class T>
Gemv<T> gemv_of(const Problem& problem) {
  const Matrix &l = problem.left, &r = problem.right, &z = problem.result;
  const auto at = [](const Matrix& m) { return reinterpret_cast<T*>(m.data); };
  const bool is_column = problem.columns == 1;
  Gemv<T> gemv =
      is_column ? Gemv<T>{at(l), l.row_stride, l.column_stride, at(r),        r.row_stride,
                          at(z), z.row_stride, problem.rows,    problem.depth}
                : Gemv<T>{at(r), r.column_stride, r.row_stride,    at(l),        l.column_stride,
                          at(z), z.column_stride, problem.columns, problem.depth};
  gemv.alpha = static_cast<T>(problem.alpha);
  gemv.beta = static_cast<T>(problem.beta);
  gemv.addend = at(problem.addend);
  gemv.addend_stride = is_column ? problem.addend.row_stride : problem.addend.column_stride;
  return gemv;
}

template <class T>
bool run_if_dense(const Problem& problem) {
  const Gemv<T> gemv = gemv_of<T>(problem);
  if (gemv.rows * gemv.depth > most_elements) return false;
  if (gemv.rows > many_sums && gemv.depth < short_sum) return false;
  if (gemv.column_stride == 1)
    run_by_rows(gemv);
  else if (gemv.row_stride == 1)
    run_by_columns(gemv);
  else
    return false;
  return true;
}
#endif

}  // namespace

bool small_gemv([[maybe_unused]] const Problem& problem) {
#if defined(__x86_64__)
  if (problem.batch_size() != 1 || (problem.columns != 1 && problem.rows != 1)) return false;
  if (!has_avx2_and_fma()) return false;
  if (problem.dtype == float32) return run_if_dense<float>(problem);
  if (problem.dtype == float64) return run_if_dense<double>(problem);
#endif
  return false;
}

}  // namespace spanwise::ops::linalg
