// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "spanwise/core/array.hpp"
#include "spanwise/strided/walk.hpp"

/// Masks in host memory: arrays of bool, in which any byte but 0 is true.
namespace spanwise::ops {

/// The argument of a Walk that keeps C order.
inline constexpr int no_leader = -1;

/// A mask and an array that it selects from, in C order.
class MaskWalk {
 public:
  /// The array has the mask's shape and these strides; its first element is at `data`.
  MaskWalk(const Array& mask, const Strides& strides, std::byte* data, int itemsize);
  /// The mask alone.
  explicit MaskWalk(const Array& mask)
      : MaskWalk(mask, mask.strides(), static_cast<std::byte*>(mask.data()), 1) {}

  std::int64_t size() const noexcept { return walk_.size(); }
  /// Bytes between elements of a run.
  std::int64_t mask_step() const noexcept { return walk_.stride(walk_.rank() - 1, 0); }
  std::int64_t array_step() const noexcept {
    return walk_.stride(walk_.rank() - 1, 1) * itemsizes_[1];
  }
  /// Calls run(mask, array, n) for each run of the elements [first, last).
  template <class F>
  void for_each(std::int64_t first, std::int64_t last, F&& run) const {
    for_each_run(walk_, data_, itemsizes_, first, last,
                 [&](std::byte* const* at, std::int64_t n) { run(at[0], at[1], n); });
  }

 private:
  std::byte* data_[2];
  int itemsizes_[2];
  Walk walk_;
};

/// Pieces of a mask for several threads, of equal length except for the last, and the number of
/// true elements before each.
struct MaskPieces {
  std::int64_t length = 0;
  std::vector<std::int64_t> before;  ///< one entry more than pieces; the last is the total
  explicit MaskPieces(const MaskWalk& walk);
  std::int64_t count() const noexcept { return static_cast<std::int64_t>(before.size()) - 1; }
  std::int64_t total() const noexcept { return before.back(); }
};

}  // namespace spanwise::ops
