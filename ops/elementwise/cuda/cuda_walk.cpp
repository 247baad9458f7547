// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda_walk.hpp"

#include <algorithm>

namespace spanwise::ops {

CudaWalk::CudaWalk(const Walk& walk)
    : rank_(walk.rank()),
      operands_(walk.operands()),
      offsets_(static_cast<std::size_t>(walk.operands())) {
  numbers_.reserve(static_cast<std::size_t>(rank_ * (1 + operands_)));
  for (int axis = 0; axis < rank_; ++axis) numbers_.push_back(walk.extent(axis));
  for (int operand = 0; operand < operands_; ++operand)
    for (int axis = 0; axis < rank_; ++axis) numbers_.push_back(walk.stride(axis, operand));
}

void CudaWalk::reverse(int axis) noexcept {
  for (int operand = 0; operand < operands_; ++operand) {
    std::int64_t& stride = numbers_[index(axis, 1 + operand)];
    offsets_[static_cast<std::size_t>(operand)] += (extent(axis) - 1) * stride;
    stride = -stride;
  }
}

void CudaWalk::move_next_to_last(int axis) noexcept {
  for (int row = 0; row <= operands_; ++row) {
    const auto first = numbers_.begin() + row * rank_;
    std::rotate(first + axis, first + axis + 1, first + rank_ - 1);
  }
}

}  // namespace spanwise::ops
