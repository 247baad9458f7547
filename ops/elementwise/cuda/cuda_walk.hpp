// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "spanwise/strided/walk.hpp"

namespace spanwise::ops {

/// A walk as kernels receive it, struct Walk of cuda_layouts.cpp: the extents, then the strides of
/// each operand. Unlike those of Walk, axes can be reversed and moved.
class CudaWalk {
 public:
  explicit CudaWalk(const Walk& walk);

  int rank() const noexcept { return rank_; }
  int operands() const noexcept { return operands_; }
  std::int64_t extent(int axis) const noexcept { return numbers_[index(axis, 0)]; }
  std::int64_t stride(int axis, int operand) const noexcept {
    return numbers_[index(axis, 1 + operand)];
  }
  /// The offset of the operand's first element that reversed axes cause, in elements.
  std::int64_t offset(int operand) const noexcept {
    return offsets_[static_cast<std::size_t>(operand)];
  }
  /// Reverses the direction of the axis.
  void reverse(int axis) noexcept;
  /// Makes the axis the last but one; it must not be the last.
  void move_next_to_last(int axis) noexcept;
  std::span<const std::byte> bytes() const noexcept { return std::as_bytes(std::span(numbers_)); }

 private:
  std::size_t index(int axis, int row) const noexcept {
    return static_cast<std::size_t>(row * rank_ + axis);
  }

  int rank_, operands_;
  std::vector<std::int64_t> numbers_;
  std::vector<std::int64_t> offsets_;
};

}  // namespace spanwise::ops
