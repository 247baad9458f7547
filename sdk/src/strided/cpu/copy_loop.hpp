// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "spanwise/core/array.hpp"
#include "spanwise/runtime/parallel.hpp"
#include "spanwise/strided/walk.hpp"
#include "strided/cpu/block_loop.hpp"
#include "strided/cpu/loops/block.hpp"

namespace spanwise::strided {

/// A copy, or a fill from one element with strides 0. Elements are copied as words; contiguous
/// elements are joined to larger words where all strides allow it.
class StridedCopy {
 public:
  /// `data` is the address of the source's element (0, ..., 0).
  StridedCopy(const Array& target, const Layout& source, const void* data, int source_itemsize)
      : walk_(make_walk(target, source)),
        itemsizes_{target.dtype().itemsize(), source_itemsize},
        data_{static_cast<std::byte*>(target.data()),
              static_cast<std::byte*>(const_cast<void*>(data))},
        bytes_(target.dtype().itemsize()) {
    for (std::size_t k = 0; k < 2; ++k)
      data_[k] += walk_.offset(static_cast<int>(k)) * itemsizes_[k];
    split_.axes = walk_.rank();
  }

  /// Between arrays of one dtype.
  void move();
  void cast(DType from, DType to);
  /// Fills with a value whose bytes are all equal; returns false, and does nothing, for others.
  bool try_set_bytes();

 private:
  static Walk make_walk(const Array& target, const Layout& source) {
    const Layout* const layouts[] = {&target.layout(), &source};
    return Walk(target.shape(), layouts, 0, Walk::Direction::forward);
  }
  int inner() const noexcept { return split_.axes - 1; }
  std::int64_t extent(int axis) const noexcept { return walk_.extent(axis); }
  std::int64_t target_step(int axis) const noexcept {
    return walk_.stride(axis, 0) * itemsizes_[0];
  }
  std::int64_t source_step(int axis) const noexcept {
    return walk_.stride(axis, 1) * itemsizes_[1];
  }

  bool widen_words();
  int fastest_source() const;
  int transposed_axis() const;
  bool has_small_axes(int rows) const;
  std::int64_t first_columns() const;

  void split_along_target(std::int64_t max_words);
  void split_transposed(int rows, int bytes);
  void split_small_axes();
  void move_runs();
  /// Calls work(block) for all blocks of split_, in one thread if the copy has less than
  /// `serial_bytes` bytes at `item_bytes` an element of the walk.
  template <class F>
  void run(std::int64_t item_bytes, std::int64_t serial_bytes, F&& work) const;

  Walk walk_;
  std::array<std::int64_t, 2> itemsizes_;  ///< target, source
  std::array<std::byte*, 2> data_;         ///< first elements of the walk: target, source
  int bytes_;                              ///< of a word
  BlockSplit split_;
  bool non_temporal_ = false;  ///< HostBlock::non_temporal
};

template <class F>
void StridedCopy::run(std::int64_t item_bytes, std::int64_t serial_bytes, F&& work) const {
  const int columns = split_.columns < 0 ? inner() : split_.columns, rows = split_.rows;
  Block block{
      data_[0],     data_[1], 1, extent(columns), 0, target_step(columns), 0, source_step(columns),
      non_temporal_};
  if (rows >= 0) {
    block.rows = extent(rows);
    block.target_row_step = target_step(rows);
    block.source_row_step = source_step(rows);
  }
  const bool is_plane = split_.axes == (rows < 0 ? 1 : 2);
  if (is_plane && block.columns <= split_.block_columns && block.rows <= split_.block_rows)
    return work(block);
  BlockSplit split = split_;
  if (non_temporal_) split.first_columns = first_columns();
  const BlockLoop loop(walk_, data_, itemsizes_, split);
  const auto run_blocks = [&](std::int64_t first, std::int64_t last) {
    Block part = block;
    loop.run(first, last,
             [&](std::byte* const* data, std::int64_t rows_of_part, std::int64_t columns_of_part) {
               part.target = data[0];
               part.source = data[1];
               part.rows = rows_of_part;
               part.columns = columns_of_part;
               work(part);
             });
  };
  const bool is_serial = walk_.size() * item_bytes < serial_bytes;
  parallel_for(loop.count(), is_serial ? loop.count() : 1, run_blocks);
}

}  // namespace spanwise::strided
