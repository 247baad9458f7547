// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "spanwise/strided/walk.hpp"

namespace spanwise::strided {

/// The axes of a walk, forward in the leader, which can be reversed and moved.
class WalkAxes : public Walk {
 public:
  WalkAxes(const Shape& shape, std::span<const Layout* const> arrays, int leader)
      : Walk(shape, arrays, leader, Direction::forward) {}

  /// Whether 32 bits are too few for an offset between two elements of an array.
  bool has_far_elements() const noexcept;
  bool has_equal_strides(int a, int b) const noexcept;
  /// Reverses the direction of the axis, and changes offset() accordingly.
  void reverse(int axis) noexcept;
  /// Makes groups of `count` elements of the last axis, whose strides are 1, one element; `count`
  /// divides its extent and all other strides. The axis is removed if its extent becomes 1, unless
  /// it is the only one. size() and offset() still count elements before join(). To be called once.
  void join(int count) noexcept;
  /// Moves an axis to index `to`; the axes between shift by one.
  void move(int axis, int to) noexcept;
  /// Extents, then the strides of each array but those in `left_out` (bit k: array k).
  std::vector<std::int64_t> numbers(std::uint32_t left_out) const;

 private:
  int joined_ = 1;
};

}  // namespace spanwise::strided
