// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "parse/line_map.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace spanwise::parse {
namespace {

TEST(LineMap, FindsLinesInBothDirections) {
  LineMap lines("kernel.cu");         // its lines 1 and 2
  lines.add({20, 3, 1, "header.h"});  // lines 1 to 3 of a header, which is included again
  lines.add({50, 6, 4, "kernel.cu"});
  lines.add({60, 7, 1, "header.h"});
  EXPECT_EQ(lines.origin(0, 1).file, "kernel.cu");
  EXPECT_EQ(lines.origin(19, 2).number, 2);
  EXPECT_EQ(lines.origin(45, 5).file, "header.h");
  EXPECT_EQ(lines.origin(45, 5).number, 3);
  EXPECT_EQ(lines.origin(50, 6).number, 4);
  EXPECT_EQ(lines.lines_from("header.h", 2), (std::vector<int>{4, 8}));
  EXPECT_EQ(lines.lines_from("kernel.cu", 4), (std::vector<int>{6}));
  EXPECT_TRUE(lines.lines_from("kernel.cu", 3).empty());
  EXPECT_TRUE(lines.lines_from("other.h", 1).empty());
}

}  // namespace
}  // namespace spanwise::parse
