// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "spanwise/array.hpp"

namespace spanwise::ops::linalg {

/// A matrix of any strides, in elements.
struct Matrix {
  std::byte* data = nullptr;
  std::int64_t row_stride = 0, column_stride = 0;
};

/// An axis along which there is one product after the other.
struct BatchAxis {
  std::int64_t extent, left, right, result;  ///< strides in elements
};

/// result = left @ right, of rows x depth and depth x columns, all extents at least 1 and all three
/// of one dtype on one device; for each place in the batch. The result shares no memory with the
/// factors, nor with itself.
struct Problem {
  DType dtype;
  std::int64_t rows = 1, columns = 1, depth = 1;
  Matrix left, right, result;
  bool conjugate_left = false;
  int batch_rank = 0;
  std::array<BatchAxis, max_rank> batch;  ///< of extent above 1, as few as the strides allow

  std::int64_t batch_size() const noexcept {
    std::int64_t size = 1;
    for (int i = 0; i < batch_rank; ++i) size *= batch[static_cast<std::size_t>(i)].extent;
    return size;
  }
};

/// Arrays of one dtype on one device: left (..., rows, depth), right (..., depth, columns), result
/// (..., rows, columns); the axes before the last two broadcast to the result's. No extent of the
/// result is 0, nor is depth.
Problem describe_product(const Array& left, const Array& right, const Array& result,
                         bool conjugate_left);

/// The problem by our own loops or kernel, in any layout. Integers wrap around; bool is "or" of
/// "and"; float16 and bfloat16 (on a GPU only) are added up in float32.
void own_product_on_cpu(const Problem& problem);
void own_product_on_cuda(const Problem& problem, Device device);

}  // namespace spanwise::ops::linalg
