// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spanwise/strided/plan.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

namespace spanwise::strided {

/// Arrays of random layouts that broadcast to one shape. Their addresses are 4 GiB apart: plans do
/// not access memory.
struct RandomArrays {
  Shape shape;
  std::vector<Layout> layouts;
  std::vector<PlanArray> planned;

  /// `shift`: elements from an address that is aligned for all packs.
  void add(Layout layout, int itemsize, ArrayRole role, std::uintptr_t shift = 0) {
    layouts.push_back(std::move(layout));
    const std::uintptr_t base = (layouts.size() << 32) + shift * static_cast<unsigned>(itemsize);
    planned.push_back({nullptr, base, itemsize, role});
    for (std::size_t k = 0; k < layouts.size(); ++k) planned[k].layout = &layouts[k];
  }
  StridedPlan plan(const PlanOptions& options = {}) const {
    StridedPlan plan;
    plan.make(shape, planned, options);
    return plan;
  }
};

/// Draws arrays whose layouts are views of larger arrays, as those of users are.
class ArrayGenerator {
 public:
  explicit ArrayGenerator(unsigned seed) : random_(seed) {}

  int below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }
  /// True with probability 1 / count.
  bool once_in(int count) { return below(count) == 0; }

  Layout layout(const Shape& shape, bool may_broadcast) {
    std::vector<int> axes;
    for (int axis = 0; axis < shape.size(); ++axis) axes.push_back(axis);
    if (once_in(2)) std::shuffle(axes.begin(), axes.end(), random_);
    Shape memory(shape.size());
    for (int k = 0; k < shape.size(); ++k) memory[axes[static_cast<std::size_t>(k)]] = shape[k];
    std::vector<int> steps;
    for (std::int64_t& extent : memory) {
      steps.push_back(once_in(4) ? -1 : once_in(6) ? 2 : 1);
      if (steps.back() == 2) extent *= 2;
      if (once_in(8)) extent += 4;  // a window of a larger array
    }
    Layout layout = Layout::row_major(memory);
    for (int axis = 0; axis < shape.size(); ++axis)
      layout = layout.slice(axis, {{}, {}, steps[static_cast<std::size_t>(axis)]});
    layout = layout.permute(axes);
    for (int axis = 0; axis < shape.size(); ++axis) {
      const std::int64_t extent = may_broadcast && once_in(5) ? 1 : shape[axis];
      layout = layout.slice(axis, {0, extent, 1});
    }
    return may_broadcast && once_in(12) ? Layout{} : layout;  // a scalar broadcasts, too
  }

  RandomArrays arrays() {
    RandomArrays drawn;
    std::vector<std::int64_t> extents;
    for (int rank = below(5); rank > 0; --rank) {
      // Small extents on later axes, since visit() visits each element.
      constexpr std::int64_t choices[] = {1, 2, 3, 4, 5, 16, 20};
      extents.push_back(choices[below(extents.size() > 2 ? 4 : 7)]);
    }
    if (once_in(50)) extents = {10 + below(9), 15 + below(9), 30 + below(9)};  // for merged
    drawn.shape = Shape(std::span<const std::int64_t>(extents));
    const int reads = below(4), writes = 1 + below(2);
    const auto itemsize = [&] { return 1 << below(5); };
    for (int k = 0; k < reads; ++k)
      drawn.add(layout(drawn.shape, true), itemsize(), ArrayRole::read, once_in(3) ? 1 : 0);
    for (int k = 0; k < writes; ++k)
      drawn.add(layout(drawn.shape, false), itemsize(),
                once_in(3) ? ArrayRole::update : ArrayRole::write, once_in(4) ? 1 : 0);
    if (once_in(4))
      drawn.add(once_in(2) ? Layout::row_major(drawn.shape) : layout(drawn.shape, true), 1,
                ArrayRole::index);
    if (once_in(4)) drawn.add(layout(drawn.shape, true), 1, ArrayRole::mask);
    return drawn;
  }

 private:
  std::mt19937 random_;
};

/// The elements that a loop visits.
struct Visited {
  std::set<std::vector<std::int64_t>> offsets;  ///< of all arrays, for each element
  std::int64_t count = 0;
};

/// The row of StridedPlan::numbers() with the strides of `array`; -1 for an array that shares the
/// strides of the leader.
inline std::int64_t numbers_row(const StridedPlan& plan, int array) {
  std::int64_t row = 1;
  for (int k = 0; k < array; ++k) row += (plan.shape().shares_strides >> k & 1) == 0;
  if ((plan.shape().shares_strides >> array & 1) == 0) return row;
  return -1;
}

inline std::int64_t stride_of(const StridedPlan& plan, const RandomArrays& arrays, int array,
                              int axis) {
  std::int64_t row = numbers_row(plan, array);
  for (int k = 0; row < 0; ++k)
    if (is_written(arrays.planned[static_cast<std::size_t>(k)].role)) row = numbers_row(plan, k);
  return plan.numbers()[static_cast<std::size_t>(row * plan.shape().rank + axis)];
}

/// Visits the elements as kernels do, by the numbers of the plan.
inline Visited visit(const StridedPlan& plan, const RandomArrays& arrays) {
  const int rank = plan.numbers().empty() ? 1 : plan.shape().rank;
  const int count = static_cast<int>(arrays.planned.size());
  const bool is_dense = plan.numbers().empty();
  const auto extent = [&](int axis) {
    return is_dense ? plan.steps() : plan.numbers()[static_cast<std::size_t>(axis)];
  };
  std::int64_t size = 1;
  for (int axis = 0; axis < rank; ++axis) size *= extent(axis);
  Visited visited;
  for (std::int64_t i = 0; i < size; ++i, ++visited.count) {
    std::vector<std::int64_t> at;
    for (int k = 0; k < count; ++k) at.push_back(plan.offset(k));
    std::int64_t remaining = i;
    for (int axis = rank - 1; axis >= 0; --axis) {
      const std::int64_t index = remaining % extent(axis);
      remaining /= extent(axis);
      for (int k = 0; k < count; ++k) {
        const bool is_constant =
            plan.shape().patterns[static_cast<std::size_t>(k)] == AccessPattern::constant;
        at[static_cast<std::size_t>(k)] +=
            index * (is_dense ? !is_constant : stride_of(plan, arrays, k, axis));
      }
    }
    visited.offsets.insert(at);
  }
  return visited;
}

/// Visits the elements by the index arithmetic of the layouts.
inline Visited expected_visits(const RandomArrays& arrays) {
  const Layout row_major = Layout::row_major(arrays.shape);
  Visited visited;
  for (std::int64_t i = 0; i < row_major.size(); ++i, ++visited.count) {
    std::vector<std::int64_t> at;
    for (const Layout& layout : arrays.layouts) {
      const Layout broadcast = layout.broadcast_to(arrays.shape);
      std::int64_t offset = 0;
      for (int axis = 0; axis < broadcast.rank(); ++axis)
        offset += i / std::max<std::int64_t>(row_major.strides[axis], 1) % arrays.shape[axis] *
                  broadcast.strides[axis];
      at.push_back(offset);
    }
    visited.offsets.insert(at);
  }
  return visited;
}

// Along the axis before those of a cell, each array advances by one element or by a whole cell.
inline void expect_cells(const StridedPlan& plan, const RandomArrays& arrays) {
  const PlanShape& shape = plan.shape();
  const int along = shape.rank - 1 - shape.inner;
  std::int64_t size = 1;
  for (int axis = along + 1; axis < shape.rank; ++axis)
    size *= plan.numbers()[static_cast<std::size_t>(axis)];
  // A block visits at least 16 cells.
  ASSERT_LE(size * 16, shape.cell_chunks * 128);
  for (int k = 0; k < shape.count; ++k) {
    const AccessPattern pattern = shape.patterns[static_cast<std::size_t>(k)];
    const bool has_planes = pattern == AccessPattern::planes ||
                            (shape.has_planes && pattern == AccessPattern::contiguous);
    EXPECT_EQ(stride_of(plan, arrays, k, along), pattern == AccessPattern::constant ? 0
                                                 : has_planes                       ? 1
                                                                                    : size);
  }
}

// The elements of a tile have places of their own in shared memory.
inline void expect_merged(const StridedPlan& plan) {
  const PlanShape& shape = plan.shape();
  std::int64_t rows = 1;
  for (int k = 0; k < shape.count; ++k) rows += (shape.shares_strides >> k & 1) == 0;
  const auto numbers = plan.numbers().subspan(static_cast<std::size_t>(rows * shape.rank));
  const auto blocks = numbers.first(shape.rank), sides = numbers.subspan(shape.rank, shape.inner),
             steps = numbers.subspan(shape.rank + shape.inner, shape.inner);
  const std::size_t outer = shape.rank - shape.inner;
  std::int64_t all_blocks = 1;
  std::set<std::int64_t> indices{0};
  for (std::size_t axis = 0; axis < shape.rank; ++axis) {
    const std::int64_t extent = plan.numbers()[axis], side = axis < outer ? 1 : sides[axis - outer];
    all_blocks *= blocks[axis];
    EXPECT_EQ(blocks[axis], (extent + side - 1) / side);
    if (axis < outer) continue;
    const std::int64_t step = steps[axis - outer];
    std::set<std::int64_t> more;
    for (const std::int64_t index : indices)
      for (std::int64_t i = 0; i < side; ++i) EXPECT_TRUE(more.insert(index + i * step).second);
    indices = std::move(more);
  }
  EXPECT_EQ(plan.steps(), all_blocks);
  EXPECT_LT(*indices.rbegin(), shape.cell_chunks * 128);
}

// Each pack that a kernel accesses as a whole has adjacent elements and is aligned.
inline void expect_aligned(const StridedPlan& plan, const RandomArrays& arrays) {
  const PlanShape& shape = plan.shape();
  if (shape.kind == PlanShape::Kind::dense) {
    for (std::size_t k = 0; k < arrays.planned.size(); ++k) {
      const PlanArray& array = arrays.planned[k];
      if (array.role == ArrayRole::index || shape.patterns[k] != AccessPattern::contiguous)
        continue;
      const auto first = array.address + static_cast<std::uintptr_t>(
                                             plan.offset(static_cast<int>(k)) * array.itemsize);
      EXPECT_EQ(first % static_cast<unsigned>(shape.width * array.itemsize), 0u);
    }
    return;
  }
  if (shape.kind == PlanShape::Kind::cells) return expect_cells(plan, arrays);
  if (shape.kind == PlanShape::Kind::merged) return expect_merged(plan);
  for (int k = 0; k < shape.count; ++k) {
    const PlanArray& array = arrays.planned[static_cast<std::size_t>(k)];
    const AccessPattern pattern = shape.patterns[static_cast<std::size_t>(k)];
    const bool is_tile = pattern == AccessPattern::transposed_in_packs;
    const bool is_reversed = pattern == AccessPattern::reversed;
    if (!is_tile && !is_reversed && (pattern != AccessPattern::contiguous || shape.is_shifted))
      continue;  // a shifted row's packs begin where they are aligned
    const int along = shape.rank - (is_tile ? 2 : 1);
    const std::int64_t width = is_tile ? 16 / array.itemsize : shape.width;  // 16 bytes in tiles
    EXPECT_EQ(stride_of(plan, arrays, k, along), is_reversed ? -1 : 1);
    const std::int64_t first = plan.offset(k) - (is_reversed ? width - 1 : 0);
    const auto address = static_cast<std::int64_t>(array.address) + first * array.itemsize;
    EXPECT_EQ(address % (width * array.itemsize), 0);
    for (int axis = 0; axis < shape.rank; ++axis)
      EXPECT_EQ(axis == along ? 0 : stride_of(plan, arrays, k, axis) % width, 0);
  }
}

}  // namespace spanwise::strided
