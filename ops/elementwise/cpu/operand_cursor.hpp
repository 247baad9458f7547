// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "spanwise/array.hpp"
#include "spanwise/scalar.hpp"
#include "spanwise/strided/walk.hpp"

namespace spanwise::ops {

/// One operand or the result along a walk.
struct OperandCursor {
  std::byte* data = nullptr;
  DType dtype, compute;
  std::int64_t itemsize = 0, compute_size = 0;
  std::int64_t step = 0, row_step = 0;  ///< bytes along the last axis and the one before
  bool is_constant = false;             ///< the same element everywhere
  bool is_native = false;               ///< aligned, and of the dtype that the kernel computes with
  bool is_direct = false;               ///< native, and contiguous along the last axis

  OperandCursor() = default;
  /// Operand `index` of the walk, or the result.
  OperandCursor(const Array& array, DType compute_dtype, const Walk& walk, int index,
                bool is_result)
      : data(static_cast<std::byte*>(array.data())),
        dtype(array.dtype()),
        compute(compute_dtype),
        itemsize(dtype.itemsize()),
        compute_size(compute.itemsize()) {
    const int inner = walk.rank() - 1;
    step = walk.stride(inner, index) * itemsize;
    row_step = inner > 0 ? walk.stride(inner - 1, index) * itemsize : 0;
    const int part = compute.is_complex() ? compute.itemsize() / 2 : compute.itemsize();
    const bool is_aligned =
        reinterpret_cast<std::uintptr_t>(data) % static_cast<std::uintptr_t>(part) == 0;
    const bool is_single = walk.extent(inner) == 1;
    is_native = dtype == compute && is_aligned;
    is_direct = is_native && (step == itemsize || (is_single && inner == 0));
    is_constant = !is_result && walk.size() > 1;
    for (int axis = 0; axis <= inner; ++axis) is_constant &= walk.stride(axis, index) == 0;
  }
  /// A number, which must outlive the cursor.
  explicit OperandCursor(const Scalar& number)
      : data(static_cast<std::byte*>(const_cast<void*>(number.data()))),
        dtype(number.dtype()),
        compute(dtype),
        itemsize(dtype.itemsize()),
        compute_size(itemsize),
        is_constant(true),
        is_native(true) {}

  /// Whether rows that are visited one by one would use a few bytes of each cache line: elements
  /// are far apart along the last axis, and adjacent along the one before.
  bool is_transposed() const noexcept {
    constexpr std::int64_t line = 64;
    return std::abs(step) >= line && row_step != 0 && std::abs(row_step) <= line / 4;
  }
  /// Whether a kernel can access a tile of the array in place.
  bool is_usable_directly(std::int64_t rows, std::int64_t columns) const noexcept {
    return is_direct && (rows == 1 || row_step == columns * step);
  }
};

}  // namespace spanwise::ops
