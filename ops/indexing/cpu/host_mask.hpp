// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "spanwise/array.hpp"

/// Masks in host memory: arrays of bool, in which any byte but 0 is true.
namespace spanwise::ops {

/// The axes of a mask and of the array it selects from, in C order, merged as far as the strides
/// allow. `step` is the mask's (bytes), `other_step` the array's (any unit).
struct MaskWalk {
  struct Axis {
    std::int64_t extent, step, other_step;
  };
  std::array<Axis, max_rank> axes;
  int rank = 0;  ///< 1 at least
  const std::byte* data = nullptr;
  std::int64_t size = 0;

  /// With `keep_axes`, no axes are merged.
  MaskWalk(const Array& mask, const Strides& other_strides, std::int64_t other_unit,
           bool keep_axes = false);
};

/// The number of true elements among [first, last), in C order.
std::int64_t count_true(const MaskWalk& walk, std::int64_t first, std::int64_t last);

/// Pieces of equal length for several threads, and the number of true elements before each.
struct MaskPieces {
  std::int64_t length = 0;
  std::vector<std::int64_t> before;  ///< one entry more than pieces; the last is the total
  explicit MaskPieces(const MaskWalk& walk);
  std::int64_t count() const noexcept { return static_cast<std::int64_t>(before.size()) - 1; }
  std::int64_t total() const noexcept { return before.back(); }
};

/// Calls run(mask, step, n, offset, other_step, coordinates) for each run of [first, last)
/// along the last axis; `coordinates` are those of its first element.
template <class F>
void for_each_segment(const MaskWalk& walk, std::int64_t first, std::int64_t last, F&& run) {
  if (first >= last) return;
  std::int64_t at[max_rank] = {};
  const std::byte* mask = walk.data;
  std::int64_t offset = 0, rest = first;
  const auto move = [&](int axis, std::int64_t steps) {
    const MaskWalk::Axis& a = walk.axes[static_cast<std::size_t>(axis)];
    at[axis] += steps;
    mask += steps * a.step;
    offset += steps * a.other_step;
  };
  for (int axis = walk.rank - 1; axis >= 0; --axis) {
    const std::int64_t extent = walk.axes[static_cast<std::size_t>(axis)].extent;
    move(axis, axis == 0 ? rest : rest % extent);
    rest /= extent;
  }
  const int inner = walk.rank - 1;
  const MaskWalk::Axis& row = walk.axes[static_cast<std::size_t>(inner)];
  for (std::int64_t left = last - first; left > 0;) {
    const std::int64_t n = std::min(left, row.extent - at[inner]);
    run(mask, row.step, n, offset, row.other_step, static_cast<const std::int64_t*>(at));
    left -= n;
    if (left == 0) return;
    move(inner, -at[inner]);
    int axis = inner - 1;
    for (; axis > 0 && at[axis] + 1 == walk.axes[static_cast<std::size_t>(axis)].extent; --axis)
      move(axis, -at[axis]);
    move(axis, 1);
  }
}

}  // namespace spanwise::ops
