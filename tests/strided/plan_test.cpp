// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/strided/plan.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "strided/random_arrays.hpp"

namespace spanwise::strided {
namespace {

using Kind = PlanShape::Kind;

TEST(StridedPlan, VisitsEachElementOnceInAlignedPacks) {
  int kinds[5] = {};
  for (unsigned seed = 0; seed < 1500; ++seed) {
    ArrayGenerator generator(seed);
    const RandomArrays arrays = generator.arrays();
    PlanOptions options;
    if (generator.once_in(5)) options.max_width = 1;
    options.is_serial = options.max_width == 1 && generator.once_in(2);
    const StridedPlan plan = arrays.plan(options);
    ++kinds[static_cast<int>(plan.shape().kind)];
    const Visited visited = visit(plan, arrays), expected = expected_visits(arrays);
    ASSERT_EQ(visited.count, expected.count) << seed;
    ASSERT_EQ(visited.offsets, expected.offsets) << seed;
    ASSERT_LE(plan.shape().width, options.max_width);
    expect_aligned(plan, arrays);
    ASSERT_FALSE(HasFailure()) << seed;
  }
  for (const Kind kind : {Kind::dense, Kind::rows, Kind::tiles, Kind::merged})
    EXPECT_GT(kinds[static_cast<int>(kind)], 15);
}

// Operands and result of a binary operation on float32: the first operand has the layout `read`,
// the second is C-contiguous, the result has the layout `written`.
RandomArrays binary(const Layout& read, const Layout& written, const Shape& shape) {
  RandomArrays arrays;
  arrays.shape = shape;
  arrays.add(read, 4, ArrayRole::read);
  arrays.add(Layout::row_major(shape), 4, ArrayRole::read);
  arrays.add(written, 4, ArrayRole::write);
  return arrays;
}
RandomArrays binary(const Layout& read, const Shape& shape) {
  return binary(read, Layout::row_major(shape), shape);
}

std::vector<AccessPattern> patterns(const StridedPlan& plan) {
  return {plan.shape().patterns.begin(), plan.shape().patterns.begin() + plan.shape().count};
}

TEST(StridedPlan, UsesTilesForTransposes) {
  const StridedPlan plan = binary(Layout::row_major({4096, 2048}).transpose(), {2048, 4096}).plan();
  EXPECT_EQ(plan.shape().kind, Kind::tiles);
  EXPECT_EQ(plan.shape().width, 4);
  EXPECT_EQ(plan.shape().tile_rows, 64);
  EXPECT_EQ(plan.shape().tile_columns, 64);
  EXPECT_EQ(patterns(plan), (std::vector{AccessPattern::transposed_in_packs,
                                         AccessPattern::contiguous, AccessPattern::contiguous}));
}

TEST(StridedPlan, UsesRowsForBroadcasts) {
  const StridedPlan plan = binary(Layout::row_major({64, 1}), {64, 128}).plan();
  EXPECT_EQ(plan.shape().kind, Kind::rows);
  EXPECT_EQ(plan.shape().width, 4);
  EXPECT_FALSE(plan.shape().has_tail);
  EXPECT_EQ(patterns(plan), (std::vector{AccessPattern::constant, AccessPattern::contiguous,
                                         AccessPattern::contiguous}));
}

TEST(StridedPlan, ReversesOtherArraysThanTheLeader) {
  const Layout backwards = Layout::row_major({1024}).slice(0, {{}, {}, -1});
  RandomArrays reading = binary(backwards, {1024});
  reading.planned[0].address += 1023 * 4;  // of element 0, the last in memory
  const StridedPlan read = reading.plan();
  EXPECT_EQ(read.shape().width, 4);
  EXPECT_EQ(patterns(read), (std::vector{AccessPattern::reversed, AccessPattern::contiguous,
                                         AccessPattern::contiguous}));
  RandomArrays writing = binary(Layout::row_major({1024}), backwards, {1024});
  writing.planned[2].address += 1023 * 4;
  EXPECT_EQ(patterns(writing.plan()), (std::vector{AccessPattern::reversed, AccessPattern::reversed,
                                                   AccessPattern::contiguous}));
}

TEST(StridedPlan, ArraysReversedInTheSameAxesAreDense) {
  const Layout backwards =
      Layout::row_major({32, 64}).slice(1, {{}, {}, -1}).slice(0, {{}, {}, -1});
  RandomArrays arrays;
  arrays.shape = {32, 64};
  for (const ArrayRole role : {ArrayRole::read, ArrayRole::write}) arrays.add(backwards, 4, role);
  for (PlanArray& array : arrays.planned) array.address += 2047 * 4;
  const StridedPlan plan = arrays.plan();
  EXPECT_EQ(plan.shape().kind, Kind::dense);
  EXPECT_TRUE(plan.is_contiguous());
  EXPECT_EQ(plan.offset(1), -2047);
}

// Packs per thread of a contiguous array of `items` bytes an element, cast to `written` bytes.
int packs_of_cast(int items, int written, const PlanOptions& options = {}) {
  RandomArrays arrays;
  arrays.shape = {1024};
  arrays.add(Layout::row_major({1024}), items, ArrayRole::read);
  arrays.add(Layout::row_major({1024}), written, ArrayRole::write);
  return arrays.plan(options).shape().packs;
}

TEST(StridedPlan, AThreadVisitsOnePackThatWrites16BytesInUpToFourElements) {
  EXPECT_EQ(packs_of_cast(4, 4), 1);
  EXPECT_EQ(packs_of_cast(1, 8), 1);
  EXPECT_EQ(packs_of_cast(16, 16), 1);
  EXPECT_EQ(packs_of_cast(8, 4), 2) << "a pack writes 8 bytes";
  EXPECT_EQ(packs_of_cast(2, 2), 2) << "a pack has 8 elements";
  EXPECT_EQ(packs_of_cast(16, 16, {.max_width = 1, .packs = 4}), 4);
}

TEST(StridedPlan, VisitsRowsInOneThreadOnTheCpu) {
  RandomArrays arrays = binary(Layout::row_major({64, 100}).transpose(), {100, 64});
  const StridedPlan plan = arrays.plan({.max_width = 1, .packs = 1, .is_serial = true});
  EXPECT_EQ(plan.shape().kind, Kind::rows);
  EXPECT_EQ(plan.shape().threads_per_block(), 1);
  EXPECT_EQ(plan.blocks(), 1);
  EXPECT_EQ(patterns(plan), (std::vector{AccessPattern::strided, AccessPattern::contiguous,
                                         AccessPattern::contiguous}));
}

TEST(StridedPlan, UsesCellsForShortAxes) {
  const StridedPlan pixels = binary(Layout::row_major({8, 1024}).transpose(), {1024, 8}).plan();
  EXPECT_EQ(pixels.shape().kind, Kind::cells);
  EXPECT_EQ(patterns(pixels), (std::vector{AccessPattern::planes, AccessPattern::contiguous,
                                           AccessPattern::contiguous}));
  const StridedPlan planes = binary(Layout::row_major({1024, 3}).transpose(), {3, 1024}).plan();
  EXPECT_TRUE(planes.shape().has_planes);
  EXPECT_EQ(patterns(planes)[0], AccessPattern::cells);
  const Layout matrices = Layout::row_major({900, 4, 5}).permute(std::vector{0, 2, 1});
  EXPECT_EQ(patterns(binary(matrices, {900, 5, 4}).plan())[0], AccessPattern::cells);
  EXPECT_EQ(binary(matrices, {900, 5, 4}).plan().shape().width, 4);
  // Too few cells, and cells that are too large for shared memory.
  EXPECT_EQ(binary(Layout::row_major({3, 20}).transpose(), {20, 3}).plan().shape().kind,
            Kind::rows);
  EXPECT_EQ(binary(Layout::row_major({20, 2, 300}).permute(std::vector{0, 2, 1}), {20, 300, 2})
                .plan()
                .shape()
                .kind,
            Kind::merged);
}

// A copy of a C-contiguous array whose axes are permuted.
StridedPlan permutation(const Shape& memory, const std::vector<int>& order, int itemsize) {
  RandomArrays arrays;
  const Layout source = Layout::row_major(memory).permute(order);
  arrays.shape = source.shape;
  arrays.add(source, itemsize, ArrayRole::read);
  arrays.add(Layout::row_major(source.shape), itemsize, ArrayRole::write);
  const StridedPlan plan = arrays.plan({.joins_elements = true});
  expect_aligned(plan, arrays);
  return plan;
}

TEST(StridedPlan, MergesAxesForPermutationsOfAnyExtents) {
  struct Case {
    Shape memory;
    std::vector<int> order;
    int itemsize;
  };
  const Case cases[] = {{{96, 100, 80, 90}, {3, 2, 1, 0}, 4},
                        {{4887, 2, 245, 5, 9}, {1, 4, 0, 2, 3}, 4},
                        {{5, 12, 12, 2, 71095}, {1, 2, 0, 4, 3}, 4},
                        {{42, 7332, 132, 2}, {1, 2, 3, 0}, 1},
                        {{26853, 1863}, {1, 0}, 2},
                        {{233363, 215}, {1, 0}, 2},
                        {{34929283, 2}, {1, 0}, 1},
                        {{7950, 13, 20, 4, 2}, {4, 2, 0, 1, 3}, 1}};
  for (const Case& each : cases) {
    const StridedPlan plan = permutation(each.memory, each.order, each.itemsize);
    EXPECT_EQ(plan.shape().kind, Kind::merged) << Layout::row_major(each.memory);
    const std::int64_t size = Layout::row_major(each.memory).size() / plan.joined();
    EXPECT_GT(size / plan.steps(), 1800) << Layout::row_major(each.memory);
  }
  EXPECT_EQ(permutation({4096, 2048}, {1, 0}, 4).shape().kind, Kind::tiles);
  EXPECT_EQ(permutation({31, 33}, {1, 0}, 4).shape().kind, Kind::tiles) << "few elements";
}

TEST(StridedPlan, ShiftsRowsOfMisalignedBytes) {
  RandomArrays arrays;
  arrays.shape = {100, 200};
  const Layout memory = Layout::row_major({100, 203});
  arrays.add(memory.slice(1, {1, 201, {}}), 1, ArrayRole::read);
  arrays.add(memory.slice(1, {2, 202, {}}), 1, ArrayRole::write);
  const StridedPlan plan = arrays.plan();
  EXPECT_TRUE(plan.shape().is_shifted);
  EXPECT_EQ(plan.shape().width, 16);
  EXPECT_EQ(plan.steps(),
            100 * 14);  // (200 + 15) / 16: 200 bytes, shifted by up to 15, in packs of 16
  EXPECT_EQ(patterns(plan)[0], AccessPattern::unaligned);
}

TEST(StridedPlan, JoinsElementsThatAreAdjacentInBothArrays) {
  RandomArrays arrays;
  arrays.shape = {30, 40, 2};
  arrays.add(Layout::row_major({40, 30, 2}).permute(std::vector{1, 0, 2}), 4, ArrayRole::read);
  arrays.add(Layout::row_major({30, 40, 2}), 4, ArrayRole::write);
  const StridedPlan plan = arrays.plan({.joins_elements = true});
  EXPECT_EQ(plan.joined(), 2);
  EXPECT_EQ(plan.shape().kind, Kind::tiles);
  EXPECT_EQ(plan.shape().rank, 2);
}

TEST(StridedPlan, TakesScalarsAsConstants) {
  const StridedPlan plan = binary(Layout{}, {4096}).plan();
  EXPECT_EQ(plan.shape().kind, Kind::dense);
  EXPECT_EQ(patterns(plan), (std::vector{AccessPattern::constant, AccessPattern::contiguous,
                                         AccessPattern::contiguous}));
}

TEST(StridedPlan, KeepsOneRowOfStridesForWrittenArraysOfOneLayout) {
  RandomArrays arrays = binary(Layout::row_major({64, 1}), {64, 128});
  arrays.add(Layout::row_major({64, 128}), 8, ArrayRole::write);
  const StridedPlan plan = arrays.plan();
  EXPECT_EQ(plan.shape().shares_strides, 1u << 3);
  EXPECT_EQ(plan.numbers().size(), 8u);
}

TEST(StridedPlan, UsesSixtyFourBitsAboveTwoToTheThirtyOne) {
  const StridedPlan plan =
      binary(Layout::row_major({std::int64_t{1} << 16, 1}), {std::int64_t{1} << 16, 1 << 17})
          .plan();
  EXPECT_TRUE(plan.shape().is_large);
  EXPECT_EQ(plan.steps(), std::int64_t{1} << 31);
}

TEST(StridedPlan, VisitsElementsUsedInPlaceOneByOne) {
  RandomArrays arrays;
  arrays.shape = {8, 64};
  arrays.add(Layout::row_major({64, 8}).transpose(), 12, ArrayRole::read_in_place);
  arrays.add(Layout::row_major({8, 64}), 12, ArrayRole::write_in_place);
  const StridedPlan plan = arrays.plan({.max_width = 1, .packs = 1});
  EXPECT_EQ(plan.shape().kind, Kind::rows);
  EXPECT_EQ(plan.shape().width, 1);
}

}  // namespace
}  // namespace spanwise::strided
