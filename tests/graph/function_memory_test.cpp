// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/graph/function.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "spanwise/runtime/copy.hpp"
#include "support/graph_ops.hpp"

namespace spanwise {
namespace {

using test::apply;
using test::input;
using test::on_cpu;
using test::plus;
using test::TestOp;
using test::values_of;
using test::vector_of;
using ::testing::ElementsAre;

TEST(FunctionMemory, ResultsAreNotOverwrittenByLaterCalls) {
  const Variable x = input("x"), y = apply(plus(1), {x}), back = apply(test::reversed(), {y});
  const CompiledFunction f = function({x}, {x, y, y, back, apply(test::reversed(), {x})}, on_cpu());
  const Array argument = vector_of({1, 2});
  const std::vector<Array> first = f({argument});
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_FALSE(may_share_memory(first[i], argument)) << i;
    for (std::size_t j = 0; j < i; ++j) EXPECT_FALSE(may_share_memory(first[i], first[j]));
  }
  const std::vector<Array> second = f({vector_of({7, 8})});
  EXPECT_THAT(values_of(first[0]), ElementsAre(1, 2));
  EXPECT_THAT(values_of(first[1]), ElementsAre(2, 3));
  EXPECT_THAT(values_of(first[3]), ElementsAre(3, 2));
  EXPECT_THAT(values_of(first[4]), ElementsAre(2, 1));
  EXPECT_THAT(values_of(second[3]), ElementsAre(9, 8));
}

TEST(FunctionMemory, ViewOfAReusedBufferIsNotOverwrittenByTheNextCall) {
  const Variable x = input("x"), back = apply(test::reversed(), {apply(plus(1), {x})});
  const CompiledFunction f = function({x}, {back}, on_cpu());
  const Array first = f({vector_of({1, 2})})[0];
  f({vector_of({50, 60})});
  EXPECT_THAT(values_of(first), ElementsAre(3, 2));
}

TEST(FunctionMemory, UndeclaredAliasIsNotOverwritten) {
  const auto alias = test::make_test_op(
      "Alias",
      [](const TestOp::Cells& in, const TestOp::Cells& out) { out[0]->value = *in[0]->value; });
  const Variable x = input("x");
  const CompiledFunction f =
      function({x}, {apply(alias, {apply(plus(1), {x})}), apply(alias, {x})}, on_cpu());
  const Array argument = vector_of({1});
  const std::vector<Array> first = f({argument});
  f({vector_of({5})});
  EXPECT_THAT(values_of(first[0]), ElementsAre(2));
  EXPECT_FALSE(may_share_memory(first[1], argument));
}

TEST(FunctionMemory, ReusesIntermediateBuffersButNotResults) {
  std::vector<const void*> buffers;
  const auto observe =
      test::make_test_op("Observe", [&](const TestOp::Cells& in, const TestOp::Cells& out) {
        buffers.push_back(in[0]->value->data());
        EXPECT_FALSE(out[0]->value.has_value());
        test::map_into(*in[0]->value, *out[0], [](float x) { return x; });
      });
  const auto inner = plus(1);
  const Variable x = input("x");
  const CompiledFunction f = function({x}, {apply(observe, {apply(inner, {x})})}, on_cpu());
  f({vector_of({1})});
  f({vector_of({2})});
  EXPECT_EQ(buffers[0], buffers[1]);
  EXPECT_THAT(inner->recyclable, ElementsAre(true));
  EXPECT_THAT(observe->recyclable, ElementsAre(false));
  f.free();
  EXPECT_THAT(values_of(f({vector_of({3})})[0]), ElementsAre(4));
}

TEST(FunctionMemory, BuffersOfTheCallerAreInTheCellsOfOutputs) {
  const auto observe =
      test::make_test_op("Observe", [&](const TestOp::Cells& in, const TestOp::Cells& out) {
        if (!out[0]->value)
          return test::map_into(*in[0]->value, *out[0], [](float v) { return v; });
        copy(*in[0]->value, *out[0]->value);
      });
  const Variable x = input("x");
  const CompiledFunction f = function({x}, {apply(observe, {x}), x}, on_cpu());
  std::vector<Array> buffers{vector_of({-1, -1}), vector_of({-1, -1})};
  const void* const address = buffers[0].data();
  const std::vector<Array> arguments{vector_of({1, 2})};
  const std::vector<Array> results = f.call_with_buffers(arguments, std::move(buffers));
  EXPECT_EQ(results[0].data(), address);
  EXPECT_THAT(values_of(results[0]), ElementsAre(1, 2));
  EXPECT_THAT(values_of(results[1]), ElementsAre(1, 2));  // an input: computed by no op
  EXPECT_NE(f(arguments)[0].data(), address);
  EXPECT_THROW(f.call_with_buffers(arguments, {vector_of({1}), vector_of({1}), vector_of({1})}),
               ArgumentError);
  EXPECT_THROW(f.call_with_buffers(arguments, {vector_of({1})}), ArgumentError);
}

TEST(FunctionMemory, BufferOfAReturnedViewIsNotRecycled) {
  const auto inner = plus(1);
  const Variable x = input("x");
  function({x}, {apply(test::reversed(), {apply(inner, {x})})}, on_cpu());
  EXPECT_THAT(inner->recyclable, ElementsAre(false));
}

}  // namespace
}  // namespace spanwise
