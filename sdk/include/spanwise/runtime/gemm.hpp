// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "spanwise/dtype.hpp"
#include "spanwise/export.hpp"
#include "spanwise/stream.hpp"

/// Matrix products by the device's library: a BLAS on the CPU, cuBLAS on a GPU.
namespace spanwise {

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
SW_API bool library_gemm(const Stream& stream, const GemmCall& call);

}  // namespace spanwise
