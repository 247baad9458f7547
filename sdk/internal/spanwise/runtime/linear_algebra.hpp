// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "spanwise/core/dtype.hpp"
#include "spanwise/runtime/stream.hpp"

namespace spanwise {

/// Matrix products by the device's library: a BLAS on the CPU, cuBLAS on a GPU.

/// One factor: one of its axes has stride 1, the other has stride `leading`.
struct GemmFactor {
  const void* data = nullptr;
  /// Leading dimension: the stride of the other axis in elements, at least max(1, extent of the
  /// axis with stride 1).
  std::int64_t leading = 1;
  std::int64_t batch_stride = 0;  ///< in elements, any sign; 0 repeats one matrix
  /// false: rows are contiguous (last axis has stride 1); true: columns are
  bool is_transposed = false;
};

/// result[i] = alpha * left[i] @ right[i] + beta * result[i] for i < batch, where left is rows x
/// depth, right depth x columns, and result rows x columns with contiguous rows. Extents are at
/// least 1. The result shares no memory with the factors; its previous contents are not read where
/// beta is 0.
struct GemmCall {
  DType dtype;  ///< of all three
  double alpha = 1, beta = 0;
  std::int64_t rows = 1, columns = 1, depth = 1, batch = 1;
  GemmFactor left, right;
  void* result = nullptr;
  std::int64_t result_leading = 1;  ///< from row to row, in elements, >= columns
  std::int64_t result_batch_stride = 0;
  bool conjugate_left = false;  ///< only for rows == 1; no effect for real dtypes
};

/// Queues the product on `stream`, by the library of its device. The caller has ordered the work.
/// Returns false, and does nothing, where there is no library or it does not support the dtype or
/// the extents. Float16 and bfloat16 accumulate in float32. Throws DeviceError where the library
/// fails.
bool library_gemm(const Stream& stream, const GemmCall& call);

/// Products of a matrix and a vector on the CPU, in the calling thread, by Spanwise's own loops.

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
  /// For gemv_by_columns(): the matrix of the next call, with the same strides and extents, which
  /// is prefetched into the L2 cache. May be null.
  const T* next = nullptr;

  void write(std::int64_t i, T sum) const {
    sum *= alpha;
    y[i * y_stride] = addend == nullptr ? sum : sum + beta * addend[i * addend_stride];
  }
};

/// Reads the matrix row by row; column_stride is 1. T is float or double, here and below.
template <class T>
void gemv_by_rows(HostGemv<T> gemv);
/// Reads the matrix column by column; row_stride is 1.
template <class T>
void gemv_by_columns(HostGemv<T> gemv);

/// Partition of a weighted sum of rows into parts that threads add separately; for a HostGemv, the
/// "rows" are the matrix's columns. Depends on the size alone, so the sums do not depend on the
/// number of threads.
class GemvParts {
 public:
  GemvParts(std::int64_t rows, std::int64_t row_bytes) : rows_(rows) {
    // Smaller parts are not worth a thread.
    constexpr std::int64_t min_bytes = 512 << 10, max_count = 64;
    while (count_ < max_count && 2 * count_ * min_bytes <= rows * row_bytes && 2 * count_ <= rows)
      count_ *= 2;
  }

  std::int64_t count() const noexcept { return count_; }
  /// The first row of a part, or the end of the last one.
  std::int64_t start(std::int64_t part) const noexcept { return split(rows_, part, count_); }
  /// The first row of part `part` of `parts`: a multiple of 8, the rows of one iteration of the
  /// loops, if each part has as many.
  static std::int64_t split(std::int64_t rows, std::int64_t part, std::int64_t parts) noexcept {
    constexpr std::int64_t unit = 8;
    const std::int64_t start = rows * part / parts;
    return part == parts || rows < parts * unit ? start : start / unit * unit;
  }

 private:
  std::int64_t rows_, count_ = 1;
};

/// Writes the results of `gemv` from sums of its parts: partial[i * gemv.rows + k] is part i of the
/// sum of row k. Reads neither matrix nor x.
template <class T>
void add_partial_sums(const T* partial, std::int64_t parts, HostGemv<T> gemv);

}  // namespace spanwise
