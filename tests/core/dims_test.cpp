// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/core/layout.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace spanwise {
namespace {

Shape counting(int size) {
  Shape shape(size);
  for (int i = 0; i < size; ++i) shape[i] = i + 1;
  return shape;
}

// Both sides of the border between inline and heap storage.
class DimsOfSize : public ::testing::TestWithParam<int> {};

TEST_P(DimsOfSize, CopyAndMoveKeepTheValues) {
  const Shape original = counting(GetParam());
  Shape copy = original;
  EXPECT_EQ(copy, original);
  Shape moved = std::move(copy);
  EXPECT_EQ(moved, original);
  copy = moved;
  EXPECT_EQ(copy, original);
  copy = counting(3);
  copy = std::move(moved);
  EXPECT_EQ(copy, original);
}

TEST_P(DimsOfSize, InsertThenEraseGivesTheOriginal) {
  const Shape original = counting(GetParam());
  for (int axis = 0; axis <= original.size(); ++axis) {
    const Shape longer = original.inserted(axis, -7);
    ASSERT_EQ(longer.size(), original.size() + 1);
    EXPECT_EQ(longer[axis], -7);
    EXPECT_EQ(longer.erased(axis), original);
  }
}

TEST_P(DimsOfSize, AssigningToItselfChangesNothing) {
  Shape shape = counting(GetParam());
  const Shape& same = shape;
  shape = same;
  EXPECT_EQ(shape, counting(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(AcrossTheInlineBorder, DimsOfSize,
                         ::testing::Values(0, 1, 5, 6, 7, 20, 64));

TEST(Dims, PrintsAsAPythonTuple) {
  std::ostringstream out;
  out << Shape{} << Shape{3} << Strides{2, -3};
  EXPECT_EQ(out.str(), "()(3,)(2, -3)");
}

TEST(Dims, DifferWhereSizesDiffer) {
  EXPECT_NE((Shape{1, 2}), (Shape{1, 2, 1}));
  EXPECT_EQ((Shape{1, 2}), (Shape{1, 2}));
}

}  // namespace
}  // namespace spanwise
