// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "spanwise/strided/walk.hpp"

namespace spanwise::strided {

/// The axes of a walk, which can be reversed and moved.
class WalkAxes {
 public:
  explicit WalkAxes(const Walk& walk);

  int rank() const noexcept { return rank_; }
  int arrays() const noexcept { return arrays_; }
  std::int64_t extent(int axis) const noexcept { return numbers_[index(axis, 0)]; }
  std::int64_t stride(int axis, int array) const noexcept {
    return numbers_[index(axis, 1 + array)];
  }
  /// The offset of the array's first visited element that reversed axes cause, in elements before
  /// join().
  std::int64_t offset(int array) const noexcept {
    return offsets_[static_cast<std::size_t>(array)];
  }
  /// Whether 32 bits are too few for an offset between two elements of an array.
  bool has_far_elements() const noexcept;
  bool has_equal_strides(int a, int b) const noexcept;
  /// Reverses the direction of the axis.
  void reverse(int axis) noexcept;
  /// Makes groups of `count` elements of the last axis, which is contiguous, one element. All other
  /// strides are multiples of it. An axis of extent 1 is removed. To be called once.
  void join(int count);
  /// Moves an axis to another place among the axes.
  void move(int axis, int to) noexcept;
  /// Removes the strides of the arrays in `left_out`, one bit each, and returns the numbers:
  /// extents, then the strides of each array.
  std::vector<std::int64_t> take_numbers(std::uint32_t left_out);

 private:
  std::size_t index(int axis, int row) const noexcept {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(rank_) +
           static_cast<std::size_t>(axis);
  }

  int rank_, arrays_, joined_ = 1;
  std::vector<std::int64_t> numbers_;
  std::vector<std::int64_t> offsets_;
};

}  // namespace spanwise::strided
