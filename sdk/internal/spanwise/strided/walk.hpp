// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "spanwise/core/array.hpp"
#include "spanwise/core/layout.hpp"

namespace spanwise {

/// An iteration over several operands of one shape (as NumPy's nditer): axes are reordered and
/// merged so that there are as few as the strides allow, the fastest last. Axes of extent 1 are
/// removed; neighbouring axes that every operand steps over with a single stride are merged.
///
/// A walk always has at least one axis: of extent 1 for rank 0 or a single element, of extent 0 for
/// size 0. Walks of few axes and operands do not allocate.
class Walk {
 public:
  /// `shape` is the broadcast shape: each operand has that rank or less and, counted from the last
  /// axis, the same extent or 1. Axes are ordered by the strides of operand `leader`, longest
  /// first; where these are 0 or equal, by the other operands in order, then by the order of the
  /// axes; without a leader (-1) axes keep their order. A reduction passes its result as an operand
  /// with stride 0 on the reduced axes. The layouts' offsets are ignored. With Direction::forward,
  /// axes along which the leader has a negative stride are reversed before they are merged; the
  /// walk then begins at offset().
  enum class Direction { unchanged, forward };
  Walk(const Shape& shape, std::span<const Layout* const> operands, int leader,
       Direction direction = Direction::unchanged);
  Walk(Walk&& other) noexcept;
  Walk& operator=(Walk&&) = delete;

  int rank() const noexcept { return rank_; }
  int operands() const noexcept { return operands_; }
  /// Number of elements: the product of the extents.
  std::int64_t size() const noexcept { return size_; }
  std::int64_t extent(int axis) const noexcept { return at(axis)[0]; }
  /// In elements, of any sign; 0 for a broadcast axis.
  std::int64_t stride(int axis, int operand) const noexcept { return at(axis)[1 + operand]; }
  /// The offset of the walk's first element from the operand's element (0, ..., 0), in elements; 0
  /// with Direction::unchanged.
  std::int64_t offset(int operand) const noexcept {
    return is_forward_ ? at(rank_)[1 + operand] : 0;
  }
  /// The strides of all operands.
  std::span<const std::int64_t> strides(int axis) const noexcept {
    return {at(axis) + 1, static_cast<std::size_t>(operands_)};
  }
  /// All axes by the operand's strides, the smallest first, those of stride 0 last.
  using AxisOrder = std::array<int, max_rank>;
  AxisOrder order(int operand) const noexcept;
  /// An operand of which a tile has long runs of adjacent elements.
  struct TileOperand {
    int operand, itemsize;
  };
  static constexpr std::size_t max_tile_operands = 4;
  /// The extents along each axis of a tile of up to `max_size` elements in which the runs of the
  /// operands, which several axes may form, have similar numbers of bytes. Axes that are split are
  /// split evenly.
  std::array<std::int64_t, max_rank> tile_sides(std::span<const TileOperand> operands,
                                                std::int64_t max_size) const noexcept;
  /// Whether there is one axis, of stride 1 for every operand.
  bool is_dense() const noexcept {
    if (rank_ != 1) return false;
    const auto steps = strides(0);
    return std::ranges::all_of(steps, [](std::int64_t step) { return step == 1; });
  }

 protected:
  // Per axis: its extent, then the stride of each operand. If is_forward_, the offsets follow.
  const std::int64_t* at(int axis) const noexcept { return numbers_ + axis * (1 + operands_); }
  std::int64_t* at(int axis) noexcept { return numbers_ + axis * (1 + operands_); }
  // Reverses an axis, and adds the change of each operand's first element to `offsets`, laid out as
  // at(rank()); a stride counts `unit` elements.
  void reverse(int axis, std::int64_t* offsets, std::int64_t unit) noexcept;
  void remove_last() noexcept;

 private:
  static constexpr int inline_numbers = 42;  // e.g. five axes of six operands and their offsets

  void reserve(int rank);
  void add_axes(const Shape& shape, std::span<const Layout* const> operands);
  bool comes_before(const std::int64_t* a, const std::int64_t* b, int leader) const noexcept;
  void sort(int leader) noexcept;
  void merge() noexcept;
  void make_forward(int leader) noexcept;

  int rank_ = 0, operands_ = 0;
  bool is_forward_ = false;
  std::int64_t size_ = 1;
  std::int64_t* numbers_ = inline_;
  std::unique_ptr<std::int64_t[]> heap_;
  std::int64_t inline_[inline_numbers];
};

/// The layout of a new result array: dense, with the axes in the order of the operands' strides
/// where these agree, else in C order (numpy.ufunc's order='K', numpy.nditer). Operands as for
/// Walk.
Layout result_layout(const Shape& shape, std::span<const Layout* const> operands);

/// Iterates over the elements [first, last) of `walk` in its order and calls run(pointers, count)
/// for each run along the last axis: `count` elements per operand, operand k starting at
/// pointers[k] with stride walk.stride(walk.rank() - 1, k). `data[k]` is the address of operand k's
/// element (0, ..., 0), `itemsizes[k]` its element size in bytes.
template <int max_operands = 8, class F>
void for_each_run(const Walk& walk, std::span<std::byte* const> data,
                  std::span<const int> itemsizes, std::int64_t first, std::int64_t last, F&& run) {
  const int inner = walk.rank() - 1, operands = walk.operands();
  std::byte* pointers[max_operands];
  std::copy_n(data.begin(), operands, pointers);
  const auto move = [&](int axis, std::int64_t steps) {
    for (int k = 0; k < operands; ++k)
      pointers[k] += walk.stride(axis, k) * steps * itemsizes[static_cast<std::size_t>(k)];
  };
  std::int64_t index[max_rank];
  std::int64_t remainder = first;
  for (int axis = inner; axis >= 0; --axis) {
    const std::int64_t extent = walk.extent(axis);
    index[axis] = axis == 0 ? remainder : remainder % extent;
    if (index[axis] != 0) move(axis, index[axis]);
    remainder /= std::max<std::int64_t>(extent, 1);
  }
  for (std::int64_t left = last - first; left > 0;) {
    const std::int64_t count = std::min(left, walk.extent(inner) - index[inner]);
    run(static_cast<std::byte* const*>(pointers), count);
    left -= count;
    if (left <= 0) return;
    move(inner, -index[inner]);
    index[inner] = 0;
    for (int axis = inner - 1; axis >= 0; --axis) {
      if (++index[axis] < walk.extent(axis)) {
        move(axis, 1);
        break;
      }
      move(axis, 1 - walk.extent(axis));
      index[axis] = 0;
    }
  }
}

/// broadcast_shapes() of the arrays' shapes, in less time where those of rank above 0 are equal.
Shape broadcast_shape(std::span<const Array* const> arrays);

/// Whether data() is a multiple of the item size.
inline bool is_item_aligned(const Array& array) noexcept {
  return reinterpret_cast<std::uintptr_t>(array.data()) %
             static_cast<std::uintptr_t>(array.dtype().itemsize()) ==
         0;
}

}  // namespace spanwise
