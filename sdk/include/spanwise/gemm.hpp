// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "spanwise/dtype.hpp"
#include "spanwise/export.hpp"
#include "spanwise/stream.hpp"

/// Products of matrices by a device's own library: a BLAS on the CPU, cuBLAS on a GPU.
namespace spanwise {

/// A factor as these libraries take it: one of its axes has stride 1, the other `leading`.
struct GemmFactor {
  const void* data = nullptr;
  /// The distance, in elements, of neighbours along the other axis: at least the extent of the axis
  /// of stride 1, and at least 1.
  std::int64_t leading = 1;
  std::int64_t batch_stride = 0;  ///< in elements, any sign, 0 for one matrix for all
  /// False: rows lie in one piece (the last axis has stride 1). True: columns do.
  bool is_transposed = false;
};

/// result[i] = left[i] @ right[i] for i < batch, where left is rows x depth, right depth x columns
/// and result rows x columns with rows in one piece. Extents are at least 1. The result shares no
/// memory with the factors; what was in it does not matter.
struct GemmCall {
  DType dtype;  ///< of all three
  std::int64_t rows = 1, columns = 1, depth = 1, batch = 1;
  GemmFactor left, right;
  void* result = nullptr;
  std::int64_t result_leading = 1;  ///< from row to row, in elements, >= columns
  std::int64_t result_batch_stride = 0;
  bool conjugate_left = false;  ///< only where rows is 1; of real factors without meaning
};

/// Has the library of the stream's device do it, queued on the stream; the caller has ordered the
/// work. False, and nothing is done, where there is no library, or it does not take the dtype or
/// extents of this size. Float16 and bfloat16 are added up in float32. Throws DeviceError where the
/// library fails.
SW_API bool library_gemm(const Stream& stream, const GemmCall& call);

}  // namespace spanwise
