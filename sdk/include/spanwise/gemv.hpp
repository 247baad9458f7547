// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "spanwise/export.hpp"

/// Products of a matrix and a vector on the CPU, in the calling thread, by Spanwise's own loops.
namespace spanwise {

/// y[i] = alpha * the sum over p of matrix[i, p] * x[p] + beta * addend[i], for i < rows and
/// p < depth. Strides in elements, any sign. y shares memory with the addend only if both are the
/// same elements, and with nothing else.
template <class T>
struct HostGemv {
  const T* matrix = nullptr;
  std::int64_t row_stride = 0, column_stride = 0;
  const T* x = nullptr;
  std::int64_t x_stride = 1;
  T* y = nullptr;
  std::int64_t y_stride = 1;
  std::int64_t rows = 0, depth = 0;
  T alpha = 1, beta = 0;
  const T* addend = nullptr;  ///< may be null
  std::int64_t addend_stride = 1;

  void write(std::int64_t i, T sum) const {
    sum *= alpha;
    y[i * y_stride] = addend == nullptr ? sum : sum + beta * addend[i * addend_stride];
  }
};

/// Reads the matrix row by row; column_stride is 1.
SW_API void gemv_by_rows(HostGemv<float> gemv);
SW_API void gemv_by_rows(HostGemv<double> gemv);
/// Reads the matrix column by column; row_stride is 1.
SW_API void gemv_by_columns(HostGemv<float> gemv);
SW_API void gemv_by_columns(HostGemv<double> gemv);

}  // namespace spanwise
