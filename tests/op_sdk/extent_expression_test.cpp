// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "op_sdk/extent_expression.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spanwise/core/error.hpp"

namespace spanwise::op_sdk {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::int64_t value_of(const std::string& text, std::int64_t h = 7, std::int64_t w = -3) {
  Names names;
  names.add("h");
  names.add("w");
  const ExtentExpression expression = ExtentExpression::parse(text, names, "test");
  const std::int64_t values[] = {h, w};
  return expression.evaluate(values);
}

std::string error_of(const std::string& text) {
  try {
    value_of(text);
  } catch (const ArgumentError& e) {
    return e.what();
  }
  return "no error";
}

TEST(ExtentExpression, FollowsPythonsPrecedence) {
  EXPECT_EQ(value_of("1 + 2 * 3"), 7);
  EXPECT_EQ(value_of("(1 + 2) * 3"), 9);
  EXPECT_EQ(value_of("10 - 3 - 2"), 5);
  EXPECT_EQ(value_of("100 // 7 // 2"), 7);
  EXPECT_EQ(value_of("-h + 2"), -5);
  EXPECT_EQ(value_of("2*-h"), -14);
  EXPECT_EQ(value_of("h*w"), -21);
  EXPECT_EQ(value_of("  42\t"), 42);
}

TEST(ExtentExpression, DividesTowardsMinusInfinityAsPython) {
  EXPECT_EQ(value_of("h // 2"), 3);
  EXPECT_EQ(value_of("-h // 2"), -4);
  EXPECT_EQ(value_of("h // w"), -3);
  EXPECT_EQ(value_of("h % w"), -2);
  EXPECT_EQ(value_of("-h % 3"), 2);
  EXPECT_EQ(value_of("6 % 3"), 0);
}

TEST(ExtentExpression, HasThreeFunctions) {
  EXPECT_EQ(value_of("cdiv(h, 2)"), 4);
  EXPECT_EQ(value_of("cdiv(8, 2)"), 4);
  EXPECT_EQ(value_of("cdiv(-7, 2)"), -3);
  EXPECT_EQ(value_of("min(h, w)"), -3);
  EXPECT_EQ(value_of("max(1, h, 3)"), 7);
  EXPECT_EQ(value_of("min(max(h, 2), 5) + cdiv(1, 4)"), 6);
}

TEST(ExtentExpression, ErrorGivesThePosition) {
  EXPECT_THAT(error_of("h +"), HasSubstr("test: in \"h +\" at character 4: expected a number"));
  EXPECT_THAT(error_of("h / 2"), HasSubstr("at character 3: \"/\" does not give an integer"));
  EXPECT_THAT(error_of("h w"), HasSubstr("at character 3: expected an operator"));
  EXPECT_THAT(error_of("(h"), HasSubstr("expected \")\""));
  EXPECT_THAT(error_of("abs(h)"), HasSubstr("there is no function \"abs\""));
  EXPECT_THAT(error_of("cdiv(h)"), HasSubstr("expected \",\""));
  EXPECT_THAT(error_of("cdiv(h, 1, 2)"), HasSubstr("expected \")\""));
  EXPECT_THAT(error_of("99999999999999999999"), HasSubstr("does not fit in 64 bits"));
  EXPECT_THAT(error_of("2.5"), HasSubstr("expected an operator"));
  EXPECT_THAT(error_of(""), HasSubstr("expected a number"));
}

TEST(ExtentExpression, RefusesToDivideByZeroAndToOverflow) {
  EXPECT_THAT(error_of("h // (w + 3)"), HasSubstr("divides by zero"));
  EXPECT_THAT(error_of("h % 0"), HasSubstr("divides by zero"));
  EXPECT_THAT(error_of("cdiv(h, 0)"), HasSubstr("divides by zero"));
  EXPECT_THAT(error_of("9223372036854775807 + 1"), HasSubstr("does not fit in 64 bits"));
  EXPECT_THAT(error_of("9223372036854775807 * h"), HasSubstr("does not fit in 64 bits"));
  EXPECT_THAT(error_of("(-9223372036854775807 - 1) // -1"), HasSubstr("does not fit in 64 bits"));
}

TEST(ExtentExpression, RefusesDeepNestingButNoLongSums) {
  EXPECT_THAT(error_of(std::string(100'000, '(') + "1"), HasSubstr("nested too deeply"));
  EXPECT_THAT(error_of(std::string(100'000, '-') + "1"), HasSubstr("nested too deeply"));
  std::string right = "1";
  for (int i = 0; i < 40; ++i) right = "1 + (" + right + ")";
  EXPECT_THAT(error_of(right), HasSubstr("nested too deeply"));
  std::string left = "1";
  for (int i = 0; i < 1000; ++i) left += " + 1";
  EXPECT_EQ(value_of(left), 1001);
}

TEST(ExtentExpression, ListsItsNamesOnce) {
  Names names;
  names.add("k");
  const ExtentExpression sum = ExtentExpression::parse("b + a * b + k", names, "test");
  EXPECT_EQ(std::vector({names[0], names[1], names[2]}), (std::vector<std::string>{"k", "b", "a"}));
  EXPECT_THAT(sum.names(), ElementsAre(1, 2, 0));
  EXPECT_EQ(sum.lone_name(), -1);
  EXPECT_EQ(ExtentExpression::parse("a", names, "test").lone_name(), 2);
  EXPECT_EQ(names.find("z"), -1);
}

}  // namespace
}  // namespace spanwise::op_sdk
