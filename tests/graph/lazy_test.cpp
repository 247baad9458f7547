// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/graph_ops.hpp"

namespace spanwise {
namespace {

using test::apply;
using test::compile;
using test::input;
using test::plus;
using test::TestOp;
using test::values_of;
using test::vector_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Ref<TestOp> counted(int& runs) {
  return test::make_test_op("Counted", [&runs](const TestOp::Cells& in, const TestOp::Cells& out) {
    ++runs;
    test::map_into(*in[0]->value, *out[0], [](float x) { return x; });
  });
}

// The error text of a call whose lazy thunk does `work` for its one input, or "no error".
std::string error_of(const TestOp::LazyWork& work) {
  const Ref<TestOp> op = test::make_test_op("Lazy", nullptr);
  op->lazy_work = work;
  const Variable x = input("x");
  const CompiledFunction f = compile({x}, {apply(op, {apply(plus(1), {x})})});
  try {
    f({vector_of({1})});
  } catch (const GraphError& e) {
    return e.what();
  }
  return "no error";
}

TEST(LazyThunks, EvaluateOnlyRequestedInputs) {
  int left = 0, right = 0;
  const Variable condition = input("condition"), x = input("x");
  const Variable chosen = apply(
      test::choose(), {apply(plus(0), {condition}), apply(plus(1), {apply(counted(left), {x})}),
                       apply(plus(2), {apply(counted(right), {x})})});
  const CompiledFunction f = compile({condition, x}, {apply(plus(10), {chosen})});
  EXPECT_THAT(values_of(f({vector_of({1}), vector_of({5})})[0]), ElementsAre(16));
  EXPECT_EQ(left, 1);
  EXPECT_EQ(right, 0);
  EXPECT_THAT(values_of(f({vector_of({0}), vector_of({5})})[0]), ElementsAre(17));
  EXPECT_EQ(left, 1);
  EXPECT_EQ(right, 1);
}

TEST(LazyThunks, LeavesAreComputedInputs) {
  const Variable condition = input("condition"), x = input("x"), y = input("y");
  const CompiledFunction f = compile({condition, x, y}, {apply(test::choose(), {condition, x, y})});
  EXPECT_THAT(values_of(f({vector_of({0}), vector_of({5}), vector_of({6})})[0]), ElementsAre(6));
}

TEST(LazyThunks, ShareNodesOfOtherOutputs) {
  int runs = 0;
  const Variable condition = input("condition"), x = input("x"), y = apply(counted(runs), {x});
  const CompiledFunction f = compile({condition, x}, {apply(test::choose(), {condition, y, x}), y});
  const std::vector<Array> results = f({vector_of({1}), vector_of({5})});
  EXPECT_THAT(values_of(results[0]), ElementsAre(5));
  EXPECT_THAT(values_of(results[1]), ElementsAre(5));
  EXPECT_EQ(runs, 1);
}

TEST(LazyThunks, AreHeldToTheirContract) {
  using Cells = TestOp::Cells;
  EXPECT_THAT(error_of([](const Cells&, const Cells&) { return std::vector<int>{7}; }),
              HasSubstr("requests input 7 of 1"));
  EXPECT_THAT(error_of([](const Cells&, const Cells&) { return std::vector<int>{0}; }),
              HasSubstr("requests only inputs that are already computed"));
  EXPECT_THAT(error_of([](const Cells&, const Cells&) { return std::vector<int>{}; }),
              HasSubstr("has not set the compute_map"));
  EXPECT_THAT(error_of([](const Cells&, const Cells& out) {
                out[0]->computed = true;
                return std::vector<int>{};
              }),
              HasSubstr("was not computed"));
}

TEST(LazyThunks, RunReadersBeforeOverwritingNodes) {
  const Variable condition = input("condition"), x = input("x"), y = apply(plus(1), {x});
  const Variable chosen =
      apply(test::choose(), {condition, apply(test::plus_in_place(10), {y}), x});
  const CompiledFunction f = compile({condition, x}, {chosen, apply(plus(100), {y})});
  const std::vector<Array> results = f({vector_of({1}), vector_of({0})});
  EXPECT_THAT(values_of(results[0]), ElementsAre(11));
  EXPECT_THAT(values_of(results[1]), ElementsAre(101));
}

}  // namespace
}  // namespace spanwise
