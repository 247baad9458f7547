// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/graph/type.hpp"

#include <gtest/gtest.h>

#include "spanwise/core/error.hpp"
#include "spanwise/runtime/creation.hpp"

namespace spanwise {
namespace {

constexpr std::int64_t any = TensorType::any;

TEST(TensorType, NamesFollowTheanosPatterns) {
  EXPECT_EQ(TensorType(float32, Shape{}).name(), "TensorType(float32, scalar)");
  EXPECT_EQ(TensorType(float32, Shape{any, any}).name(), "TensorType(float32, matrix)");
  EXPECT_EQ(TensorType(int64, Shape(5, any)).name(), "TensorType(int64, tensor5)");
  EXPECT_EQ(TensorType(float32, Shape{1, any}).name(), "TensorType(float32, row)");
  EXPECT_EQ(TensorType(float32, Shape{any, 1}).name(), "TensorType(float32, col)");
  EXPECT_EQ(TensorType(float32, Shape{any, 3}).name(), "TensorType(float32, (None, 3))");
  EXPECT_EQ(TensorType(float32, Shape{3}).name(), "TensorType(float32, (3,))");
  EXPECT_EQ(TensorType(bool_, Shape{any}, Device(DeviceKind::cuda, 1)).name(),
            "TensorType(bool, vector, cuda:1)");
}

TEST(TensorType, MismatchNamesThePartThatDiffers) {
  const TensorType type(float32, Shape{any, 3});
  EXPECT_EQ(type.mismatch(empty(Shape{5, 3}, float32, cpu)), std::nullopt);
  EXPECT_EQ(type.mismatch(empty(Shape{5, 3}, float64, cpu)), "expected dtype float32, got float64");
  EXPECT_EQ(type.mismatch(empty(Shape{3}, float32, cpu)), "expected 2 axes, got 1 (shape (3,))");
  EXPECT_EQ(type.mismatch(empty(Shape{5, 4}, float32, cpu)),
            "expected shape (None, 3), got (5, 4)");
  const TensorType on_gpu(float32, Shape{any, 3}, Device(DeviceKind::cuda));
  EXPECT_EQ(on_gpu.mismatch(empty(Shape{5, 3}, float32, cpu)), "expected device cuda:0, got cpu");
}

TEST(TensorType, MatchesExactlyWhenMismatchIsEmpty) {
  for (const DType dtype : {float32, int32})
    for (const Shape& shape : {Shape{2, 3}, Shape{2, 1}, Shape{2}, Shape{0, 3}})
      for (const TensorType& type :
           {TensorType(float32, Shape{any, 3}), TensorType(int32, Shape{2, any}, cpu)}) {
        const Array array = empty(shape, dtype, cpu);
        EXPECT_EQ(type.matches(array), !type.mismatch(array).has_value()) << type << shape << dtype;
      }
}

TEST(TensorType, IncludesNarrowerTypesOnly) {
  const TensorType open(float32, Shape{any, any}), narrow(float32, Shape{2, any}, cpu);
  EXPECT_TRUE(open.includes(narrow));
  EXPECT_FALSE(narrow.includes(open));
  EXPECT_FALSE(open.includes(TensorType(float64, Shape{any, any})));
  EXPECT_FALSE(open.includes(TensorType(float32, Shape{any})));
}

TEST(TensorType, RefusesOtherNegativeExtents) {
  EXPECT_THROW(TensorType(float32, Shape{-2}), LayoutError);
  EXPECT_TRUE(TensorType(float32, Shape{1}).broadcastable(0));
}

}  // namespace
}  // namespace spanwise
