// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "block_loop.hpp"

namespace spanwise::strided {

BlockLoop::BlockLoop(const Walk& walk, std::span<std::byte* const> data,
                     std::span<const std::int64_t> itemsizes, const BlockSplit& split)
    : walk_(walk) {
  for (std::size_t k = 0; k < data.size(); ++k) {
    itemsizes_[k] = itemsizes[k];
    data_[k] = data[k];
  }
  const int columns = split.columns < 0 ? split.axes - 1 : split.columns;
  add_axis(columns, split.block_columns, split.first_columns);
  add_axis(split.rows, split.block_rows, 0);
  add_axis(split.layers, split.block_layers, 0);
  for (int axis = split.axes - 1; axis >= 0; --axis)
    if (axis != columns && axis != split.rows && axis != split.layers) add_axis(axis, 1, 0);
}

void BlockLoop::add_axis(int axis, std::int64_t length, std::int64_t first) {
  const std::int64_t extent = axis < 0 ? 1 : walk_.extent(axis);
  SplitAxis& axis_split = split_axes_[static_cast<std::size_t>(split_axis_count_++)];
  axis_split = {axis, extent, length, std::min(first == 0 ? length : first, extent)};
  count_ *= axis_split.count();
}

void BlockLoop::seek(std::int64_t block, Position& position) const noexcept {
  std::copy_n(data_.begin(), walk_.operands(), position.data.begin());
  for (std::size_t i = 0; i < static_cast<std::size_t>(split_axis_count_); ++i) {
    const SplitAxis& axis_split = split_axes_[i];
    position.starts[i] = 0;
    if (block == 0) continue;
    const std::int64_t count = axis_split.count(), index = block % count;
    block /= count;
    if (index == 0) continue;
    position.starts[i] = axis_split.first + (index - 1) * axis_split.length;
    move(axis_split.axis, position.starts[i], position);
  }
}

void BlockLoop::advance(Position& position) const noexcept {
  for (std::size_t i = 0; i < static_cast<std::size_t>(split_axis_count_); ++i) {
    const SplitAxis& axis_split = split_axes_[i];
    std::int64_t& start = position.starts[i];
    const std::int64_t steps = start == 0 ? axis_split.first : axis_split.length;
    if (start + steps < axis_split.extent) {
      start += steps;
      return move(axis_split.axis, steps, position);
    }
    if (start != 0) move(axis_split.axis, -start, position);
    start = 0;
  }
}

void BlockLoop::move(int axis, std::int64_t steps, Position& position) const noexcept {
  for (int k = 0; k < walk_.operands(); ++k)
    position.data[static_cast<std::size_t>(k)] += steps * step(axis, k);
}

}  // namespace spanwise::strided
