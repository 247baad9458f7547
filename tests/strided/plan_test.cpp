// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/strided/plan.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

namespace spanwise::strided {
namespace {

using Kind = PlanShape::Kind;

/// Arrays of random layouts that broadcast to one shape, at addresses far apart.
struct Arrays {
  Shape shape;
  std::vector<Layout> layouts;
  std::vector<PlanArray> planned;

  void add(Layout layout, int itemsize, ArrayRole role, std::uintptr_t shift = 0) {
    layouts.push_back(std::move(layout));
    const std::uintptr_t base = (layouts.size() << 32) + shift * static_cast<unsigned>(itemsize);
    planned.push_back({nullptr, base, itemsize, role});
    for (std::size_t k = 0; k < layouts.size(); ++k) planned[k].layout = &layouts[k];
  }
  StridedPlan plan(const PlanOptions& options = {}) const {
    StridedPlan made;
    made.make(shape, planned, options);
    return made;
  }
};

/// Draws layouts by views, as users make them.
class Drawer {
 public:
  explicit Drawer(unsigned seed) : random_(seed) {}

  int below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }
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
    Layout made = Layout::row_major(memory);
    for (int axis = 0; axis < shape.size(); ++axis)
      made = made.slice(axis, {{}, {}, steps[static_cast<std::size_t>(axis)]});
    made = made.permute(axes);
    for (int axis = 0; axis < shape.size(); ++axis) {
      const std::int64_t extent = may_broadcast && once_in(5) ? 1 : shape[axis];
      made = made.slice(axis, {0, extent, 1});
    }
    return may_broadcast && once_in(12) ? Layout{} : made;
  }

  Arrays arrays() {
    Arrays drawn;
    std::vector<std::int64_t> extents;
    for (int rank = below(5); rank > 0; --rank) {
      constexpr std::int64_t choices[] = {1, 2, 3, 4, 5, 16, 20};
      extents.push_back(choices[below(extents.size() > 2 ? 4 : 7)]);
    }
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

/// One loop over the plan's axes, as kernels do it.
struct Visited {
  std::set<std::vector<std::int64_t>> offsets;  ///< of all arrays, for each element
  std::int64_t count = 0;
};

std::int64_t numbers_row(const StridedPlan& plan, int array) {
  std::int64_t row = 1;
  for (int k = 0; k < array; ++k) row += (plan.shape().shares_strides >> k & 1) == 0;
  if ((plan.shape().shares_strides >> array & 1) == 0) return row;
  return -1;
}

std::int64_t stride_of(const StridedPlan& plan, const Arrays& arrays, int array, int axis) {
  std::int64_t row = numbers_row(plan, array);
  for (int k = 0; row < 0; ++k)
    if (is_written(arrays.planned[static_cast<std::size_t>(k)].role)) row = numbers_row(plan, k);
  return plan.numbers()[static_cast<std::size_t>(row * plan.shape().rank + axis)];
}

Visited visit(const StridedPlan& plan, const Arrays& arrays) {
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
    std::int64_t rest = i;
    for (int axis = rank - 1; axis >= 0; --axis) {
      const std::int64_t index = rest % extent(axis);
      rest /= extent(axis);
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

Visited expected(const Arrays& arrays) {
  const Layout all = Layout::row_major(arrays.shape);
  Visited visited;
  for (std::int64_t i = 0; i < all.size(); ++i, ++visited.count) {
    std::vector<std::int64_t> at;
    for (const Layout& layout : arrays.layouts) {
      const Layout stretched = layout.broadcast_to(arrays.shape);
      std::int64_t offset = 0;
      for (int axis = 0; axis < stretched.rank(); ++axis)
        offset += i / std::max<std::int64_t>(all.strides[axis], 1) % arrays.shape[axis] *
                  stretched.strides[axis];
      at.push_back(offset);
    }
    visited.offsets.insert(at);
  }
  return visited;
}

// Along the axis before a cell's, each array advances by one element or by a whole cell.
void expect_cells(const StridedPlan& plan, const Arrays& arrays) {
  const PlanShape& shape = plan.shape();
  const int along = shape.rank - 1 - shape.inner;
  std::int64_t size = 1;
  for (int axis = along + 1; axis < shape.rank; ++axis)
    size *= plan.numbers()[static_cast<std::size_t>(axis)];
  ASSERT_LE(size * 16, shape.side_s * 128);
  for (int k = 0; k < shape.count; ++k) {
    const AccessPattern pattern = shape.patterns[static_cast<std::size_t>(k)];
    const bool has_planes = pattern == AccessPattern::planes ||
                            (shape.has_planes && pattern == AccessPattern::contiguous);
    EXPECT_EQ(stride_of(plan, arrays, k, along), pattern == AccessPattern::constant ? 0
                                                 : has_planes                       ? 1
                                                                                    : size);
  }
}

// Every pack that a kernel accesses as a whole has adjacent elements and is aligned.
void expect_aligned(const StridedPlan& plan, const Arrays& arrays) {
  const PlanShape& shape = plan.shape();
  if (shape.kind == Kind::dense) {
    for (std::size_t k = 0; k < arrays.planned.size(); ++k) {
      const PlanArray& array = arrays.planned[k];
      if (array.role == ArrayRole::index || shape.patterns[k] != AccessPattern::contiguous)
        continue;
      EXPECT_EQ(array.address % static_cast<unsigned>(shape.width * array.itemsize), 0u);
    }
    return;
  }
  if (shape.kind == Kind::cells) return expect_cells(plan, arrays);
  for (int k = 0; k < shape.count; ++k) {
    const PlanArray& array = arrays.planned[static_cast<std::size_t>(k)];
    const AccessPattern pattern = shape.patterns[static_cast<std::size_t>(k)];
    const bool is_tile = pattern == AccessPattern::transposed_in_packs;
    const bool is_back = pattern == AccessPattern::reversed;
    if (!is_tile && !is_back && (pattern != AccessPattern::contiguous || shape.is_shifted))
      continue;  // a shifted row's packs begin where they are aligned
    const int along = shape.rank - (is_tile ? 2 : 1);
    const std::int64_t width = is_tile ? 16 / array.itemsize : shape.width;
    EXPECT_EQ(stride_of(plan, arrays, k, along), is_back ? -1 : 1);
    const std::int64_t first = plan.offset(k) - (is_back ? width - 1 : 0);
    const auto address = static_cast<std::int64_t>(array.address) + first * array.itemsize;
    EXPECT_EQ(address % (width * array.itemsize), 0);
    for (int axis = 0; axis < shape.rank; ++axis)
      EXPECT_EQ(axis == along ? 0 : stride_of(plan, arrays, k, axis) % width, 0);
  }
}

TEST(StridedPlan, VisitsEachElementOnceInAlignedPacks) {
  int kinds[4] = {};
  for (unsigned seed = 0; seed < 1000; ++seed) {
    Drawer drawer(seed);
    const Arrays arrays = drawer.arrays();
    PlanOptions options;
    if (drawer.once_in(5)) options.max_width = 1;
    const StridedPlan plan = arrays.plan(options);
    ++kinds[static_cast<int>(plan.shape().kind)];
    const Visited visited = visit(plan, arrays), wanted = expected(arrays);
    ASSERT_EQ(visited.count, wanted.count) << seed;
    ASSERT_EQ(visited.offsets, wanted.offsets) << seed;
    ASSERT_LE(plan.shape().width, options.max_width);
    expect_aligned(plan, arrays);
    ASSERT_FALSE(HasFailure()) << seed;
  }
  for (const Kind kind : {Kind::dense, Kind::rows, Kind::tiles})
    EXPECT_GT(kinds[static_cast<int>(kind)], 20);
}

Arrays two(const Layout& read, const Layout& written, const Shape& shape) {
  Arrays arrays;
  arrays.shape = shape;
  arrays.add(read, 4, ArrayRole::read);
  arrays.add(Layout::row_major(shape), 4, ArrayRole::read);
  arrays.add(written, 4, ArrayRole::write);
  return arrays;
}
Arrays two(const Layout& read, const Shape& shape) {
  return two(read, Layout::row_major(shape), shape);
}

std::vector<AccessPattern> patterns(const StridedPlan& plan) {
  return {plan.shape().patterns.begin(), plan.shape().patterns.begin() + plan.shape().count};
}

TEST(StridedPlan, UsesTilesForTransposes) {
  const StridedPlan plan = two(Layout::row_major({4096, 2048}).transpose(), {2048, 4096}).plan();
  EXPECT_EQ(plan.shape().kind, Kind::tiles);
  EXPECT_EQ(plan.shape().width, 4);
  EXPECT_EQ(plan.shape().side_s, 64);
  EXPECT_EQ(plan.shape().side_t, 64);
  EXPECT_EQ(patterns(plan), (std::vector{AccessPattern::transposed_in_packs,
                                         AccessPattern::contiguous, AccessPattern::contiguous}));
}

TEST(StridedPlan, UsesRowsForBroadcasts) {
  const StridedPlan plan = two(Layout::row_major({64, 1}), {64, 128}).plan();
  EXPECT_EQ(plan.shape().kind, Kind::rows);
  EXPECT_EQ(plan.shape().width, 4);
  EXPECT_FALSE(plan.shape().has_tail);
  EXPECT_EQ(patterns(plan), (std::vector{AccessPattern::constant, AccessPattern::contiguous,
                                         AccessPattern::contiguous}));
}

TEST(StridedPlan, ReversesTheLeader) {
  const Layout backwards = Layout::row_major({1024}).slice(0, {{}, {}, -1});
  Arrays reading = two(backwards, {1024});
  reading.planned[0].address += 1023 * 4;
  const StridedPlan read = reading.plan();
  EXPECT_EQ(read.shape().width, 4);
  EXPECT_EQ(patterns(read), (std::vector{AccessPattern::reversed, AccessPattern::contiguous,
                                         AccessPattern::contiguous}));
  Arrays writing = two(Layout::row_major({1024}), backwards, {1024});
  writing.planned[2].address += 1023 * 4;
  EXPECT_EQ(patterns(writing.plan()), (std::vector{AccessPattern::reversed, AccessPattern::reversed,
                                                   AccessPattern::contiguous}));
}

TEST(StridedPlan, UsesCellsForShortAxes) {
  const StridedPlan pixels = two(Layout::row_major({8, 1024}).transpose(), {1024, 8}).plan();
  EXPECT_EQ(pixels.shape().kind, Kind::cells);
  EXPECT_EQ(patterns(pixels), (std::vector{AccessPattern::planes, AccessPattern::contiguous,
                                           AccessPattern::contiguous}));
  const StridedPlan planes = two(Layout::row_major({1024, 3}).transpose(), {3, 1024}).plan();
  EXPECT_TRUE(planes.shape().has_planes);
  EXPECT_EQ(patterns(planes)[0], AccessPattern::cells);
  const Layout matrices = Layout::row_major({900, 4, 5}).permute(std::vector{0, 2, 1});
  EXPECT_EQ(patterns(two(matrices, {900, 5, 4}).plan())[0], AccessPattern::cells);
  EXPECT_EQ(two(matrices, {900, 5, 4}).plan().shape().width, 4);
  // Too few, or too large for shared memory.
  EXPECT_EQ(two(Layout::row_major({3, 20}).transpose(), {20, 3}).plan().shape().kind, Kind::rows);
  EXPECT_EQ(two(Layout::row_major({20, 2, 300}).permute(std::vector{0, 2, 1}), {20, 300, 2})
                .plan()
                .shape()
                .kind,
            Kind::rows);
}

TEST(StridedPlan, ShiftsRowsOfMisalignedBytes) {
  Arrays arrays;
  arrays.shape = {100, 200};
  const Layout memory = Layout::row_major({100, 203});
  arrays.add(memory.slice(1, {1, 201, {}}), 1, ArrayRole::read);
  arrays.add(memory.slice(1, {2, 202, {}}), 1, ArrayRole::write);
  const StridedPlan plan = arrays.plan();
  EXPECT_TRUE(plan.shape().is_shifted);
  EXPECT_EQ(plan.shape().width, 16);
  EXPECT_EQ(plan.steps(), 100 * 14);  // 215 / 16, rounded up
  EXPECT_EQ(patterns(plan)[0], AccessPattern::unaligned);
}

TEST(StridedPlan, JoinsElementsThatAreAdjacentInBothArrays) {
  Arrays arrays;
  arrays.shape = {30, 40, 2};
  arrays.add(Layout::row_major({40, 30, 2}).permute(std::vector{1, 0, 2}), 4, ArrayRole::read);
  arrays.add(Layout::row_major({30, 40, 2}), 4, ArrayRole::write);
  const StridedPlan plan = arrays.plan({.joins_elements = true});
  EXPECT_EQ(plan.joined(), 2);
  EXPECT_EQ(plan.shape().kind, Kind::tiles);
  EXPECT_EQ(plan.shape().rank, 2);
}

TEST(StridedPlan, TakesNumbersInMemoryAsConstants) {
  const StridedPlan plan = two(Layout{}, {4096}).plan();
  EXPECT_EQ(plan.shape().kind, Kind::dense);
  EXPECT_EQ(patterns(plan), (std::vector{AccessPattern::constant, AccessPattern::contiguous,
                                         AccessPattern::contiguous}));
}

TEST(StridedPlan, KeepsOneRowOfStridesForWrittenArraysOfOneLayout) {
  Arrays arrays = two(Layout::row_major({64, 1}), {64, 128});
  arrays.add(Layout::row_major({64, 128}), 8, ArrayRole::write);
  const StridedPlan plan = arrays.plan();
  EXPECT_EQ(plan.shape().shares_strides, 1u << 3);
  EXPECT_EQ(plan.numbers().size(), 8u);
}

TEST(StridedPlan, CountsInSixtyFourBits) {
  const StridedPlan plan =
      two(Layout::row_major({std::int64_t{1} << 16, 1}), {std::int64_t{1} << 16, 1 << 17}).plan();
  EXPECT_TRUE(plan.shape().is_large);
  EXPECT_EQ(plan.steps(), std::int64_t{1} << 31);
}

TEST(StridedPlan, RefersToStructsInMemory) {
  Arrays arrays;
  arrays.shape = {8, 64};
  arrays.add(Layout::row_major({64, 8}).transpose(), 12, ArrayRole::read_in_place);
  arrays.add(Layout::row_major({8, 64}), 12, ArrayRole::write_in_place);
  const StridedPlan plan = arrays.plan({.max_width = 1, .packs = 1});
  EXPECT_EQ(plan.shape().kind, Kind::rows);
  EXPECT_EQ(plan.shape().width, 1);
}

}  // namespace
}  // namespace spanwise::strided
