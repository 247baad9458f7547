// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/string_utils.hpp"

namespace spanwise {
namespace {

using Parts = std::vector<std::string_view>;

TEST(StringUtils, SeparatorAtTheEndAddsNoPart) {
  EXPECT_EQ(split("a,,b,", ','), (Parts{"a", "", "b"}));
  EXPECT_EQ(split("", ','), Parts{});
}

TEST(StringUtils, EmptyFirstItemIsFollowedByTheSeparator) {
  EXPECT_EQ(joined(Parts{"", "a", ""}), ", a, ");
  EXPECT_EQ(joined(Parts{}), "");
}

TEST(StringUtils, NumbersMustFitAndFillTheText) {
  EXPECT_EQ(parse_number("-12"), -12);
  EXPECT_EQ(parse_number<std::int64_t>("4294967296"), 4294967296);
  for (const std::string_view text : {"4294967296", "12 ", "+1", "x", ""})
    EXPECT_EQ(parse_number(text), std::nullopt) << text;
}

}  // namespace
}  // namespace spanwise
