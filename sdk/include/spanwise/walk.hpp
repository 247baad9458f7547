// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "spanwise/dims.hpp"
#include "spanwise/export.hpp"
#include "spanwise/layout.hpp"

namespace spanwise {

/// How to go through some arrays of one shape together: as few axes as their strides allow, the
/// fastest last. Axes of extent 1 are gone, and axes that every array walks in one stride are one.
///
/// A walk without axes to speak of (rank 0, one element) has one axis of extent 1; one of size 0
/// has one axis of extent 0. Walks of few axes and arrays allocate nothing.
class SW_API Walk {
 public:
  /// `shape` is what all `operands` are broadcast to: each has that rank or less and, counted from
  /// the end, an extent of 1 or the shape's. Axes are ordered by the strides of operand `leader`,
  /// longest first; where it says nothing (stride 0, or equal ones) the other operands decide, in
  /// their order, and then the order of the axes. A reduction passes its target as an operand with
  /// stride 0 on the axes that go. Offsets of layouts are not looked at.
  Walk(const Shape& shape, std::span<const Layout* const> operands, int leader);
  Walk(Walk&& other) noexcept;
  Walk& operator=(Walk&&) = delete;

  int rank() const noexcept { return rank_; }
  int operands() const noexcept { return operands_; }
  /// Steps in all: the product of the extents.
  std::int64_t size() const noexcept { return size_; }
  std::int64_t extent(int axis) const noexcept { return at(axis)[0]; }
  /// In elements, any sign.
  std::int64_t stride(int axis, int operand) const noexcept { return at(axis)[1 + operand]; }
  /// One stride for each operand.
  std::span<const std::int64_t> strides(int axis) const noexcept {
    return {at(axis) + 1, static_cast<std::size_t>(operands_)};
  }
  /// Every operand is walked in one go, one element after the other.
  bool is_dense() const noexcept {
    if (rank_ != 1) return false;
    const auto steps = strides(0);
    return std::all_of(steps.begin(), steps.end(), [](std::int64_t step) { return step == 1; });
  }

 private:
  static constexpr int inline_numbers = 35;  // e.g. five axes of six operands

  // Of each axis its extent, then its strides.
  const std::int64_t* at(int axis) const noexcept { return numbers_ + axis * (1 + operands_); }
  std::int64_t* at(int axis) noexcept { return numbers_ + axis * (1 + operands_); }
  void make_room(int rank);
  void take_axes(const Shape& shape, std::span<const Layout* const> operands);
  bool comes_before(const std::int64_t* a, const std::int64_t* b, int leader) const noexcept;
  void sort(int leader) noexcept;
  void merge() noexcept;

  int rank_ = 0, operands_ = 0;
  std::int64_t size_ = 1;
  std::int64_t* numbers_ = inline_;
  std::unique_ptr<std::int64_t[]> heap_;
  std::int64_t inline_[inline_numbers];
};

/// The fastest layout in which a new array of `shape` is written beside these operands: compact,
/// with the axes in the order of the operands' memory where they agree, else C order (numpy.ufunc's
/// order='K'; numpy.nditer decides alike). Operands as Walk takes them.
SW_API Layout result_layout(const Shape& shape, std::span<const Layout* const> operands);

/// Goes through steps [first, last) of `walk` and calls run(pointers, count) for each stretch along
/// the last axis: `count` elements from pointers[k] on, walk.stride(walk.rank() - 1, k) apart.
/// `data[k]` is the address of operand k's element (0, ..., 0), `itemsizes[k]` its bytes.
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
  std::int64_t at[max_rank];
  std::int64_t rest = first;
  for (int axis = inner; axis >= 0; --axis) {
    const std::int64_t extent = walk.extent(axis);
    at[axis] = axis == 0 ? rest : rest % extent;
    if (at[axis] != 0) move(axis, at[axis]);
    rest /= std::max<std::int64_t>(extent, 1);
  }
  for (std::int64_t left = last - first; left > 0;) {
    const std::int64_t count = std::min(left, walk.extent(inner) - at[inner]);
    run(static_cast<std::byte* const*>(pointers), count);
    left -= count;
    if (left <= 0) return;
    move(inner, -at[inner]);
    at[inner] = 0;
    for (int axis = inner - 1; axis >= 0; --axis) {
      if (++at[axis] < walk.extent(axis)) {
        move(axis, 1);
        break;
      }
      move(axis, 1 - walk.extent(axis));
      at[axis] = 0;
    }
  }
}

}  // namespace spanwise
