// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/graph/variable.hpp"

#include <gtest/gtest.h>

#include "support/graph_ops.hpp"

namespace spanwise {
namespace {

using test::float_vector;
using test::input;
using test::plus;
using test::TestOp;

TEST(Variable, InputHasNoOwnerAndIsLabelledByItsName) {
  const Variable x = input("x");
  EXPECT_EQ(x.owner(), nullptr);
  EXPECT_EQ(x.value(), nullptr);
  EXPECT_EQ(x.label(), "x");
  EXPECT_EQ(Variable(float_vector()).label(), "<TensorType(float32, vector)>");
}

TEST(Variable, AnOutputNamesItsOpAndIndex) {
  const Variable y = test::apply(plus(1), {input("x")});
  ASSERT_NE(y.owner(), nullptr);
  EXPECT_EQ(y.index(), 0);
  EXPECT_EQ(y.label(), "Plus.0");
  EXPECT_EQ(y.owner()->label(), "Plus(x)");
  y.set_name("y");
  EXPECT_EQ(y.label(), "y");
}

TEST(Variable, EqualityIsIdentity) {
  const Variable x = input("x"), same = x;
  EXPECT_EQ(x, same);
  EXPECT_FALSE(x == input("x"));
  EXPECT_EQ(std::hash<Variable>()(x), std::hash<Variable>()(same));
}

TEST(Variable, AConstantKeepsItsValueAndFixedShape) {
  const Variable c = Variable::constant(test::vector_of({1, 2}));
  ASSERT_NE(c.value(), nullptr);
  EXPECT_EQ(c.type().shape(), Shape{2});
  const Variable two = Variable::constant(full(Shape{}, Scalar(2.5), float64, cpu));
  EXPECT_EQ(two.label(), "TensorConstant{2.5}");
}

TEST(Variable, AttachmentsAreDestroyedWithTheVariable) {
  auto attachment = std::make_shared<int>(1);
  {
    const Variable x = input("x");
    x.attachment() = attachment;
    const Variable y = test::apply(plus(1), {x});
    y.attachment() = attachment;
    EXPECT_EQ(attachment.use_count(), 3);
  }
  EXPECT_EQ(attachment.use_count(), 1);
}

TEST(Apply, AnyOutputKeepsTheWholeNodeAlive) {
  auto attachment = std::make_shared<int>(1);
  Variable second;
  {
    const Variable x = input("x");
    x.attachment() = attachment;
    const Ref<TestOp> two = test::make_test_op("Two", nullptr, 2);
    const Variable inputs[] = {x};
    second = (*two)(inputs)[1];
  }
  EXPECT_EQ(second.index(), 1);
  EXPECT_EQ(second.owner()->inputs()[0].name(), "x");
  EXPECT_EQ(attachment.use_count(), 2);
  second = Variable();
  EXPECT_EQ(attachment.use_count(), 1);
}

TEST(Apply, VariablesReadBeforeTheirOwnerExistsStayValid) {
  const Variable output(float_vector(), "early"), copy = output;
  Ref<Apply> node = Apply::make(plus(1), {input("x")}, {output});
  node = nullptr;
  EXPECT_EQ(copy.owner()->inputs()[0].name(), "x");
}

TEST(Apply, RefusesOutputsThatHaveAnOwnerOrAreInputs) {
  const Variable x = input("x"), y = test::apply(plus(1), {x});
  EXPECT_THROW(Apply::make(plus(1), {x}, {y}), GraphError);
  EXPECT_THROW(Apply::make(plus(1), {x}, {x}), GraphError);
  const Variable z(float_vector());
  EXPECT_THROW(Apply::make(plus(1), {x}, {z, z}), GraphError);
  EXPECT_THROW(Apply::make(plus(1), {Variable()}, {z}), GraphError);
  EXPECT_THROW(Apply::make(plus(1), {x}, {Variable::constant(test::vector_of({1}))}), GraphError);
  EXPECT_THROW(Apply::make(nullptr, {x}, {z}), GraphError);
  EXPECT_EQ(z.owner(), nullptr);
}

TEST(Apply, DeepGraphIsDestroyedWithoutRecursion) {
  const Ref<TestOp> op = plus(1);
  Variable x = input("x");
  for (int i = 0; i < 300'000; ++i) x = test::apply(op, {x});
  auto attachment = std::make_shared<int>(1);
  x.owner()->inputs()[0].attachment() = attachment;
  x = Variable();
  EXPECT_EQ(attachment.use_count(), 1);
}

}  // namespace
}  // namespace spanwise
