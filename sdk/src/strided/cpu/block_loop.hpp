// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "spanwise/strided/plan.hpp"
#include "spanwise/strided/walk.hpp"

namespace spanwise::strided {

/// How a walk is split into blocks: `block_rows` by `block_columns` elements of two axes, for
/// `block_layers` indices of an optional third one. Axes are the walk's, -1 for none.
struct BlockSplit {
  int axes = 1;      ///< the first ones of the walk
  int columns = -1;  ///< -1 for the last of these
  int rows = -1, layers = -1;
  std::int64_t block_rows = 1, block_columns = 1, block_layers = 1;
  std::int64_t first_columns = 0;  ///< of the first block of a row, if it has less than the others
};

/// The blocks of a walk on the CPU, in the walk's order.
class BlockLoop {
 public:
  /// `data[k]` is the address of operand k's first element of the walk, which must outlive the
  /// loop.
  BlockLoop(const Walk& walk, std::span<std::byte* const> data,
            std::span<const std::int64_t> itemsizes, const BlockSplit& split);

  std::int64_t count() const noexcept { return count_; }
  /// Bytes from element to element of operand k; 0 for axis -1.
  std::int64_t step(int axis, int k) const noexcept {
    return axis < 0 ? 0 : walk_.stride(axis, k) * itemsizes_[static_cast<std::size_t>(k)];
  }

  /// Calls visit(data, rows, columns) for each layer of the blocks [first, last); data[k] is the
  /// address of operand k's first element.
  template <class F>
  void run(std::int64_t first, std::int64_t last, F&& visit) const {
    Position position;
    seek(first, position);
    for (; first < last; ++first) {
      const std::int64_t rows = size(1, position), layers = size(2, position),
                         columns = size(0, position);
      for (std::int64_t layer = 0; layer < layers; ++layer) {
        visit(static_cast<std::byte* const*>(position.data.data()), rows, columns);
        if (layers > 1) move(split_axes_[2].axis, layer + 1 < layers ? 1 : 1 - layers, position);
      }
      if (first + 1 < last) advance(position);
    }
  }

 private:
  /// An axis split into parts of `length` elements; the first part has `first`.
  struct SplitAxis {
    int axis;
    std::int64_t extent, length, first;

    std::int64_t count() const noexcept {
      return length == 1       ? extent
             : extent == first ? 1
                               : 1 + (extent - first + length - 1) / length;
    }
  };
  /// The current block: its start along each axis.
  struct Position {
    std::array<std::byte*, max_arrays> data;
    std::array<std::int64_t, max_rank + 3> starts;
  };

  /// axis -1: one part of length 1.
  void add_axis(int axis, std::int64_t length, std::int64_t first);
  /// Sets `position` to the block of this number.
  void seek(std::int64_t block, Position& position) const noexcept;
  /// Moves `position` to the next block.
  void advance(Position& position) const noexcept;
  void move(int axis, std::int64_t steps, Position& position) const noexcept;
  /// The extent of the current block along split_axes_[i].
  std::int64_t size(std::size_t i, const Position& position) const noexcept {
    const SplitAxis& split = split_axes_[i];
    const std::int64_t start = position.starts[i];
    return start == 0 ? split.first : std::min(split.length, split.extent - start);
  }

  const Walk& walk_;
  std::array<std::byte*, max_arrays> data_;
  std::array<std::int64_t, max_arrays> itemsizes_;
  // Columns, rows, layers, then the other axes, fastest first.
  std::array<SplitAxis, max_rank + 3> split_axes_;
  int split_axis_count_ = 0;
  std::int64_t count_ = 1;
};

}  // namespace spanwise::strided
