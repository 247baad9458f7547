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
using test::plus_in_place;
using test::reversed;
using test::values_of;
using test::vector_of;
using ::testing::ElementsAre;

std::vector<std::string> names(const CompiledFunction& f) {
  std::vector<std::string> names;
  for (const Ref<Apply>& node : f.toposort()) names.push_back(node->op().name());
  return names;
}

TEST(DestroyMap, AnIntermediateIsOverwrittenInPlace) {
  const Variable x = input("x");
  const CompiledFunction f = compile({x}, {apply(plus_in_place(10), {apply(plus(1), {x})})});
  EXPECT_THAT(names(f), ElementsAre("Plus", "PlusInPlace"));
  const Array first = f({vector_of({1})})[0];
  EXPECT_THAT(values_of(f({vector_of({5})})[0]), ElementsAre(16));
  EXPECT_THAT(values_of(first), ElementsAre(12));
}

TEST(DestroyMap, InputsAndConstantsAreCopiedFirst) {
  const Variable x = input("x"), c = Variable::constant(vector_of({100}));
  const CompiledFunction f = compile(
      {x}, {apply(plus_in_place(1), {x}), apply(plus_in_place(1), {apply(reversed(), {c})})});
  // "Reversed" of the constant is folded at compile time; two copies and two PlusInPlace remain.
  EXPECT_EQ(f.toposort().size(), 4u);
  const Array argument = vector_of({1});
  for (int call = 0; call < 2; ++call) {
    const std::vector<Array> results = f({argument});
    EXPECT_THAT(values_of(results[0]), ElementsAre(2));
    EXPECT_THAT(values_of(results[1]), ElementsAre(101));
  }
  EXPECT_THAT(values_of(argument), ElementsAre(1));
  EXPECT_THAT(values_of(*c.value()), ElementsAre(100));
}

TEST(DestroyMap, ResultsAreCopiedFirst) {
  const Variable x = input("x"), y = apply(plus(1), {x});
  const CompiledFunction f = compile({x}, {apply(plus_in_place(10), {y}), apply(reversed(), {y})});
  const std::vector<Array> results = f({vector_of({1, 2})});
  EXPECT_THAT(values_of(results[0]), ElementsAre(12, 13));
  EXPECT_THAT(values_of(results[1]), ElementsAre(3, 2));
}

TEST(DestroyMap, ReadersRunFirst) {
  // The walk from the outputs meets the overwriting node before the readers.
  const Variable x = input("x"), y = apply(plus(1), {x});
  const Variable overwritten = apply(plus_in_place(10), {y});
  const Variable read = apply(plus(100), {y}), viewed = apply(plus(100), {apply(reversed(), {y})});
  const CompiledFunction f = compile({x}, {overwritten, read, viewed});
  EXPECT_EQ(names(f).back(), "PlusInPlace");
  const std::vector<Array> results = f({vector_of({1, 2})});
  EXPECT_THAT(values_of(results[0]), ElementsAre(12, 13));
  EXPECT_THAT(values_of(results[1]), ElementsAre(102, 103));
  EXPECT_THAT(values_of(results[2]), ElementsAre(103, 102));
}

TEST(DestroyMap, ChainOfOverwritesRunsInOrder) {
  const Variable x = input("x"), y = apply(plus(1), {x});
  const Variable first = apply(plus_in_place(10), {y}), second = apply(plus_in_place(100), {first});
  const CompiledFunction f = compile({x}, {second, apply(plus(0), {first}), apply(plus(0), {y})});
  const std::vector<Array> results = f({vector_of({0})});
  EXPECT_THAT(values_of(results[0]), ElementsAre(111));
  EXPECT_THAT(values_of(results[1]), ElementsAre(11));
  EXPECT_THAT(values_of(results[2]), ElementsAre(1));
}

TEST(DestroyMap, RefusesAReaderThatNeedsTheOverwritingNode) {
  const Variable x = input("x"), y = apply(plus(1), {x});
  const Ref<test::TestOp> both =
      test::make_test_op("Both", [](const test::TestOp::Cells& in, const test::TestOp::Cells& out) {
        out[0]->value = copy(*in[0]->value);
      });
  const Variable z = apply(both, {apply(plus_in_place(10), {y}), y});
  EXPECT_THROW(compile({x}, {z}), GraphError);
}

TEST(DestroyMap, RefusesTwoNodesThatOverwriteTheSameVariable) {
  const Variable x = input("x"), y = apply(plus(1), {x});
  EXPECT_THROW(compile({x}, {apply(plus_in_place(1), {y}), apply(plus_in_place(2), {y})}),
               GraphError);
}

// The last of its inputs; it may view any of them.
Ref<test::TestOp> last_of(std::vector<int> viewed) {
  const Ref<test::TestOp> op = test::make_test_op(
      "LastOf", [](const test::TestOp::Cells& in, const test::TestOp::Cells& out) {
        out[0]->value = in.back()->value;
      });
  op->views = {{0, std::move(viewed)}};
  return op;
}

TEST(ViewMap, EveryInputThatIsNamedIsFollowed) {
  const Variable x = input("x"), y = input("y"), z = apply(plus(1), {x});
  const Variable last = apply(last_of({0, 1}), {apply(last_of({0, 1}), {z, z}), y});
  const CompiledFunction f =
      compile({x, y}, {apply(plus_in_place(10), {last}), apply(plus(2), {y})});
  const Array argument = vector_of({5});
  const std::vector<Array> results = f({vector_of({1}), argument});
  EXPECT_THAT(values_of(results[0]), ElementsAre(15));
  EXPECT_THAT(values_of(results[1]), ElementsAre(7));
  EXPECT_THAT(values_of(argument), ElementsAre(5));
}

TEST(ViewMap, ChainOfViewsOfTwoInputsIsVisitedOnce) {
  const Variable x = input("x");
  Variable y = apply(plus(1), {x});
  const Ref<test::TestOp> op = last_of({0, 1});
  for (int i = 0; i < 64; ++i) y = apply(op, {y, y});  // 2^64 ways down
  const CompiledFunction f = compile({x}, {apply(plus_in_place(10), {y})});
  EXPECT_THAT(values_of(f({vector_of({1})})[0]), ElementsAre(12));
}

TEST(ViewMap, RefusesAnInputIndexOutOfRange) {
  const Variable x = input("x"), y = apply(plus(1), {x});
  EXPECT_THROW(compile({x}, {apply(plus_in_place(1), {apply(last_of({0, 2}), {y, y})})}),
               GraphError);
  EXPECT_THROW(compile({x}, {apply(plus_in_place(1), {apply(last_of({-1}), {y, y})})}), GraphError);
}

// x + y into x's memory, element by element from the front.
Ref<test::TestOp> sum_in_place() {
  const Ref<test::TestOp> op = test::make_test_op(
      "SumInPlace", [](const test::TestOp::Cells& in, const test::TestOp::Cells& out) {
        const Array x = *in[0]->value, y = *in[1]->value;
        auto* to = static_cast<float*>(x.data());
        for (std::int64_t i = 0; i < x.size(); ++i)
          to[i] += static_cast<const float*>(y.data())[i * y.strides()[0]];
        out[0]->value = x;
      });
  op->destroys = {{0, {0}}};
  return op;
}

TEST(DestroyMap, BufferThatTheNodeAlsoReadsIsCopiedFirst) {
  const Variable x = input("x"), y = apply(plus(1), {x});
  const CompiledFunction views = compile({x}, {apply(sum_in_place(), {y, apply(reversed(), {y})})});
  EXPECT_THAT(values_of(views({vector_of({0, 10, 20})})[0]), ElementsAre(22, 22, 22));
  EXPECT_THAT(names(views), ElementsAre("Plus", "Copy", "Reversed", "SumInPlace"));
  const CompiledFunction same_twice = compile({x}, {apply(sum_in_place(), {y, y})});
  EXPECT_THAT(values_of(same_twice({vector_of({0, 10})})[0]), ElementsAre(2, 22));
}

TEST(DestroyMap, EqualInputsAreOverwrittenSeparately) {
  const Ref<test::TestOp> add_in_place = test::make_test_op(
      "AddOneAndTwoInPlace",
      [](const test::TestOp::Cells& in, const test::TestOp::Cells& out) {
        for (std::size_t k = 0; k < 2; ++k) {
          const Array x = *in[k]->value;
          *static_cast<float*>(x.data()) += k == 0 ? 1.0f : 2.0f;
          out[k]->value = x;
        }
      },
      2);
  add_in_place->destroys = {{0, {0}}, {1, {1}}};
  const Variable x = input("x"), y = apply(plus(10), {x});
  const Variable both[] = {y, y};
  const std::vector<Variable> outputs = (*add_in_place)(both);
  const CompiledFunction f = compile({x}, outputs);
  const std::vector<Array> results = f({vector_of({0})});
  EXPECT_THAT(values_of(results[0]), ElementsAre(11));
  EXPECT_THAT(values_of(results[1]), ElementsAre(12));
  EXPECT_THAT(names(f), ElementsAre("Plus", "Copy", "AddOneAndTwoInPlace"));
}

TEST(DestroyMap, RefusesAnInputIndexOutOfRange) {
  const Ref<test::TestOp> bad = plus_in_place(1);
  bad->destroys = {{0, {3}}};
  const Variable x = input("x");
  EXPECT_THROW(compile({x}, {apply(bad, {apply(plus(1), {x})})}), GraphError);
}

}  // namespace
}  // namespace spanwise
