// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "walk_axes.hpp"

#include <algorithm>
#include <cstdlib>

namespace spanwise::strided {

bool WalkAxes::has_far_elements() const noexcept {
  // A thread accesses packs of adjacent elements, of which the last may end behind the last
  // element, by fewer elements than this.
  constexpr std::int64_t margin = 4096;
  for (int array = 0; array < operands(); ++array) {
    std::int64_t reach = 0;
    for (int axis = 0; axis < rank(); ++axis)
      reach += (extent(axis) - 1) * std::abs(stride(axis, array));
    if (reach > INT32_MAX - margin) return true;
  }
  return false;
}

bool WalkAxes::has_equal_strides(int a, int b) const noexcept {
  for (int axis = 0; axis < rank(); ++axis)
    if (stride(axis, a) != stride(axis, b)) return false;
  return true;
}

void WalkAxes::reverse(int axis) noexcept { Walk::reverse(axis, at(rank()), joined_); }

void WalkAxes::join(int count) noexcept {
  const int inner = rank() - 1;
  at(inner)[0] /= count;
  for (int axis = 0; axis < inner; ++axis)
    for (int array = 0; array < operands(); ++array) at(axis)[1 + array] /= count;
  joined_ = count;
  if (inner > 0 && extent(inner) == 1) remove_last();
}

void WalkAxes::move(int axis, int to) noexcept {
  if (axis < to)
    std::rotate(at(axis), at(axis + 1), at(to + 1));
  else
    std::rotate(at(to), at(axis), at(axis + 1));
}

std::vector<std::int64_t> WalkAxes::numbers(std::uint32_t left_out) const {
  std::vector<std::int64_t> numbers;
  numbers.reserve(static_cast<std::size_t>(rank()) * (1 + static_cast<std::size_t>(operands())));
  for (int row = 0; row <= operands(); ++row)
    if (row == 0 || (left_out >> (row - 1) & 1) == 0)
      for (int axis = 0; axis < rank(); ++axis) numbers.push_back(at(axis)[row]);
  return numbers;
}

}  // namespace spanwise::strided
