// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "walk_axes.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace spanwise::strided {

WalkAxes::WalkAxes(const Walk& walk)
    : rank_(walk.rank()),
      arrays_(walk.operands()),
      offsets_(static_cast<std::size_t>(walk.operands())) {
  numbers_.reserve(static_cast<std::size_t>(rank_) * (1 + static_cast<std::size_t>(arrays_)));
  for (int axis = 0; axis < rank_; ++axis) numbers_.push_back(walk.extent(axis));
  for (int array = 0; array < arrays_; ++array)
    for (int axis = 0; axis < rank_; ++axis) numbers_.push_back(walk.stride(axis, array));
}

bool WalkAxes::has_far_elements() const noexcept {
  for (int array = 0; array < arrays_; ++array) {
    std::int64_t reach = 0;
    for (int axis = 0; axis < rank_; ++axis)
      reach += (extent(axis) - 1) * std::abs(stride(axis, array));
    if (reach > INT32_MAX - 4096) return true;
  }
  return false;
}

bool WalkAxes::has_equal_strides(int a, int b) const noexcept {
  for (int axis = 0; axis < rank_; ++axis)
    if (stride(axis, a) != stride(axis, b)) return false;
  return true;
}

void WalkAxes::reverse(int axis) noexcept {
  for (int array = 0; array < arrays_; ++array) {
    std::int64_t& stride = numbers_[index(axis, 1 + array)];
    offsets_[static_cast<std::size_t>(array)] += (extent(axis) - 1) * stride * joined_;
    stride = -stride;
  }
}

void WalkAxes::join(int count) {
  numbers_[index(rank_ - 1, 0)] /= count;
  for (int array = 0; array < arrays_; ++array)
    for (int axis = 0; axis < rank_ - 1; ++axis) numbers_[index(axis, 1 + array)] /= count;
  joined_ = count;
  if (rank_ == 1 || extent(rank_ - 1) > 1) return;
  for (int row = arrays_; row >= 0; --row)
    numbers_.erase(numbers_.begin() + row * rank_ + rank_ - 1);
  --rank_;
}

void WalkAxes::move(int axis, int to) noexcept {
  for (int row = 0; row <= arrays_; ++row) {
    const auto first = numbers_.begin() + row * rank_;
    if (axis < to)
      std::rotate(first + axis, first + axis + 1, first + to + 1);
    else
      std::rotate(first + to, first + axis, first + axis + 1);
  }
}

std::vector<std::int64_t> WalkAxes::take_numbers(std::uint32_t left_out) {
  auto end = numbers_.begin() + rank_;
  for (int array = 0; array < arrays_; ++array)
    if ((left_out >> array & 1) == 0)
      end = std::copy_n(numbers_.begin() + (1 + array) * rank_, rank_, end);
  numbers_.erase(end, numbers_.end());
  return std::move(numbers_);
}

}  // namespace spanwise::strided
