// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <memory>

#include "backends/cpu/exec/access_check.hpp"
#include "backends/cpu/jit/cpu_module.hpp"

namespace spanwise::cpu_backend {
namespace {

class AccessOrderTest : public testing::Test {
 protected:
  AccessOrderTest() { order->start_block(0, 128); }
  std::unique_ptr<AccessOrder> order = std::make_unique<AccessOrder>();
};

TEST_F(AccessOrderTest, BarriersOrderTheThreadsOfABlock) {
  const Stamp before = order->stamp(3, Stamp::plain);
  EXPECT_TRUE(order->is_ordered(before, 3));
  EXPECT_FALSE(order->is_ordered(before, 4));
  order->barrier();
  EXPECT_TRUE(order->is_ordered(before, 4));
  EXPECT_FALSE(order->is_ordered(order->stamp(3, Stamp::plain), 4));
  order->start_block(1, 128);
  EXPECT_FALSE(order->is_ordered(before, 4));
  EXPECT_FALSE(order->is_ordered(before, 3));
}

TEST_F(AccessOrderTest, CollectivesOrderTheirLanesAndTheEarlierAccesses) {
  const Stamp first = order->stamp(0, Stamp::plain);
  order->collective(0, 0b0011);
  EXPECT_TRUE(order->is_ordered(first, 1));
  EXPECT_FALSE(order->is_ordered(first, 2));
  order->collective(0, 0b0110);
  EXPECT_TRUE(order->is_ordered(first, 2));
  EXPECT_FALSE(order->is_ordered(first, 33));
}

TEST_F(AccessOrderTest, FencesWithAtomicsOrderBlocks) {
  int flag = 0;
  const auto address = reinterpret_cast<std::uintptr_t>(&flag);
  const Stamp written = order->stamp(0, Stamp::plain);
  order->synchronize(0, address, true, true);  // no fence before it: releases nothing
  order->start_block(1, 128);
  order->synchronize(5, address, true, true);
  EXPECT_FALSE(order->is_ordered(written, 5));
  order->start_block(0, 128);
  const Stamp before_fence = order->stamp(0, Stamp::plain);
  order->fence(0);
  const Stamp after_fence = order->stamp(0, Stamp::plain);
  order->synchronize(0, address, true, true);
  order->start_block(1, 128);
  order->synchronize(5, address, true, true);
  EXPECT_TRUE(order->is_ordered(before_fence, 5));
  EXPECT_FALSE(order->is_ordered(after_fence, 5));
  EXPECT_FALSE(order->is_ordered(before_fence, 6));
  order->barrier();
  EXPECT_TRUE(order->is_ordered(before_fence, 6));
}

TEST(ShadowMemory, SplitsPagesForBytes) {
  ShadowMemory shadow(4096, 4096 + 10000);
  int cells = 0;
  shadow.for_each(4096 + 4, 8, [&](ShadowCell& cell, std::size_t, std::size_t bytes) {
    EXPECT_EQ(bytes, 4u);
    cell.write_code = ++cells;
  });
  EXPECT_EQ(cells, 2);
  std::array<int, 3> codes{};
  shadow.for_each(4096 + 7, 3, [&](ShadowCell& cell, std::size_t offset, std::size_t bytes) {
    EXPECT_EQ(bytes, 1u);
    codes.at(offset) = cell.write_code;
  });
  EXPECT_EQ(codes, (std::array<int, 3>{1, 2, 2}));
}

TEST(UndoLog, RestoresTheFirstContents) {
  std::array<int, 4> data{1, 2, 3, 4};
  UndoLog log;
  for (int i = 0; i < 3; ++i) {
    log.save(reinterpret_cast<std::uintptr_t>(&data[1]), sizeof(int));
    data[1] = 10 + i;
  }
  data[2] = 7;
  log.restore();
  EXPECT_EQ(data, (std::array<int, 4>{1, 2, 7, 4}));
}

TEST(ImageVariables, NamesAreReadFromMangledSymbols) {
  EXPECT_EQ(variable_name("total"), "total");
  EXPECT_EQ(variable_name("_ZZ7reversePiE1s"), "s");
  EXPECT_EQ(variable_name("_ZZ7reversePiE2x1_0"), "x1");
  EXPECT_EQ(variable_name("_ZN5inner5levelE"), "level");
  EXPECT_TRUE(read_variables("no image").globals.empty());
}

}  // namespace
}  // namespace spanwise::cpu_backend
