// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/strided/walk.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

namespace spanwise {
namespace {

Walk walk(const Shape& shape, std::vector<Layout> layouts, int leader) {
  std::vector<const Layout*> pointers;
  for (const Layout& layout : layouts) pointers.push_back(&layout);
  return Walk(shape, pointers, leader);
}

Layout strided(Shape shape, Strides strides) { return {std::move(shape), std::move(strides), 0}; }

TEST(Walk, MergesTheAxesOfDenseArrays) {
  const Layout c = Layout::row_major({2, 3, 4});
  const Walk w = walk({2, 3, 4}, {c, c, c}, 2);
  EXPECT_EQ(w.rank(), 1);
  EXPECT_EQ(w.extent(0), 24);
  EXPECT_TRUE(w.is_dense());
}

TEST(Walk, FollowsTheOrderOfTheLeader) {
  const Layout f = Layout::column_major({2, 3}), c = Layout::row_major({2, 3});
  const Walk w = walk({2, 3}, {c, f}, 1);
  ASSERT_EQ(w.rank(), 2);
  EXPECT_EQ(w.extent(0), 3);
  EXPECT_EQ(w.stride(0, 0), 1);
  EXPECT_EQ(w.stride(1, 0), 3);
  EXPECT_EQ(w.stride(1, 1), 1);
}

TEST(Walk, BroadcastAxesHaveStrideZeroAndMerge) {
  const Walk w = walk({5, 2, 3}, {Layout::row_major({3}), Layout::row_major({5, 2, 3})}, 1);
  ASSERT_EQ(w.rank(), 2);
  EXPECT_EQ(w.extent(0), 10);
  EXPECT_EQ(w.stride(0, 0), 0);
  EXPECT_EQ(w.extent(1), 3);
}

TEST(Walk, ForwardReversesAxesOfTheLeaderAndMergesThem) {
  const Layout half_reversed = strided({2, 3}, {3, -1}), reversed = strided({2, 3}, {-3, -1});
  const std::vector<const Layout*> layouts = {&half_reversed, &reversed};
  const Walk w(Shape{2, 3}, layouts, 1, Walk::Direction::forward);
  ASSERT_EQ(w.rank(), 2);
  EXPECT_EQ(w.stride(0, 0), -3);
  EXPECT_EQ(w.stride(1, 0), 1);
  EXPECT_EQ(w.offset(0), 3 - 2);
  EXPECT_EQ(w.offset(1), -3 - 2);
  const std::vector<const Layout*> both_reversed = {&reversed, &reversed};
  const Walk merged(Shape{2, 3}, both_reversed, 1, Walk::Direction::forward);
  EXPECT_TRUE(merged.is_dense());
  EXPECT_EQ(merged.offset(0), -5);
}

TEST(Walk, OfAReductionFollowsTheSource) {
  const Layout source = Layout::column_major({4, 5});
  const Walk w = walk({4, 5}, {source, strided({4, 5}, {1, 0})}, 0);
  ASSERT_EQ(w.rank(), 2);
  EXPECT_EQ(w.extent(1), 4);
  EXPECT_EQ(w.stride(1, 1), 1);
  EXPECT_EQ(w.stride(0, 1), 0);
}

TEST(Walk, ScalarsAndEmptyArraysHaveOneAxis) {
  const Walk scalars = walk({}, {Layout{}, Layout{}}, 1);
  EXPECT_EQ(scalars.rank(), 1);
  EXPECT_EQ(scalars.size(), 1);
  EXPECT_EQ(scalars.extent(0), 1);
  const Walk empty = walk({3, 0, 2}, {Layout::row_major({3, 0, 2})}, 0);
  EXPECT_EQ(empty.rank(), 1);
  EXPECT_EQ(empty.size(), 0);
}

TEST(Walk, KeepsManyAxesAndOperandsWhenMoved) {
  Shape shape(9, 2);
  std::vector<Layout> layouts;
  for (int i = 0; i < 7; ++i)
    layouts.push_back(i % 2 ? Layout::row_major(shape) : Layout::column_major(shape));
  Walk w = walk(shape, layouts, 0);
  const Walk moved = std::move(w);
  EXPECT_EQ(moved.rank(), 9);
  EXPECT_EQ(moved.stride(8, 0), 1);
  EXPECT_EQ(moved.stride(8, 1), 256);
}

// Visits each element once, at its address in each layout, in two parts of random size.
TEST(ForEachRun, VisitsEveryElementOfRandomLayouts) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    const int rank = static_cast<int>(random() % 5);
    Shape shape(rank);
    Strides a(rank), b(rank);
    for (int axis = 0; axis < rank; ++axis) {
      shape[axis] = static_cast<std::int64_t>(random() % 4) + (round % 10 ? 1 : 0);
      a[axis] = static_cast<std::int64_t>(random() % 200) - 100;
      b[axis] = static_cast<std::int64_t>(random() % 200) - 100;
    }
    std::multiset<std::pair<std::int64_t, std::int64_t>> expected, seen;
    const std::int64_t size = Layout{shape, a, 0}.size();
    for (std::int64_t i = 0; i < size; ++i) {
      std::int64_t remaining = i, x = 0, y = 0;
      for (int axis = rank - 1; axis >= 0; --axis) {
        x += remaining % shape[axis] * (shape[axis] == 1 ? 0 : a[axis]);
        y += remaining % shape[axis] * (shape[axis] == 1 ? 0 : b[axis]);
        remaining /= shape[axis];
      }
      expected.emplace(x * 4, y * 2);
    }
    const Walk w = walk(shape, {Layout{shape, a, 0}, Layout{shape, b, 0}}, round % 2);
    ASSERT_EQ(w.size(), size);
    std::vector<std::byte> memory(1);
    std::byte* const base = memory.data();
    std::byte* const data[] = {base, base};
    const int itemsizes[] = {4, 2};
    const std::int64_t cut = size ? static_cast<std::int64_t>(random()) % (size + 1) : 0;
    for (const auto& [first, last] : {std::pair{std::int64_t{0}, cut}, std::pair{cut, size}}) {
      for_each_run(w, data, itemsizes, first, last,
                   [&](std::byte* const* pointers, std::int64_t count) {
                     const int inner = w.rank() - 1;
                     for (std::int64_t i = 0; i < count; ++i)
                       seen.emplace(pointers[0] - base + i * 4 * w.stride(inner, 0),
                                    pointers[1] - base + i * 2 * w.stride(inner, 1));
                   });
    }
    EXPECT_EQ(seen, expected) << shape << a << b;
  }
}

TEST(ResultLayout, KeepsTheCommonOrderOfTheOperands) {
  const Layout f = Layout::column_major({2, 3}), c = Layout::row_major({2, 3});
  const Layout* both[] = {&f, &f};
  EXPECT_EQ(result_layout({2, 3}, both), f);
  const Layout* mixed[] = {&f, &c};
  EXPECT_EQ(result_layout({2, 3}, mixed), c);
  const Layout row = Layout::row_major({3});
  const Layout* broadcast[] = {&row, &f};
  EXPECT_EQ(result_layout({2, 3}, broadcast), f);
}

}  // namespace
}  // namespace spanwise
