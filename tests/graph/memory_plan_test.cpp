// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "spanwise/runtime/creation.hpp"
#include "support/graph_ops.hpp"

namespace spanwise {
namespace {

using test::apply;
using test::compile;
using test::input;
using test::TestOp;

Array filled_vector(std::int64_t size, float value) {
  return full(Shape{size}, Scalar(value), float32, cpu);
}

/// x + 1; appends the address of each result.
Ref<TestOp> noted_plus(std::vector<const void*>& addresses) {
  return test::make_test_op("NotedPlus",
                            [&addresses](const TestOp::Cells& in, const TestOp::Cells& out) {
                              test::map_into(*in[0]->value, *out[0], [](float x) { return x + 1; });
                              addresses.push_back(out[0]->value->data());
                            });
}

float first_of(const Array& array) { return static_cast<const float*>(array.data())[0]; }

CompiledFunction chain_of(int length, std::vector<const void*>& addresses) {
  const Variable x = input("x");
  Variable y = x;
  for (int i = 0; i < length; ++i) y = apply(noted_plus(addresses), {y});
  return compile({x}, {y});
}

std::size_t count_distinct(const std::vector<const void*>& addresses) {
  return std::set<const void*>(addresses.begin(), addresses.end()).size();
}

TEST(MemoryPlan, ResultsReuseBuffersOfDeadVariables) {
  std::vector<const void*> addresses;
  const CompiledFunction f = chain_of(8, addresses);
  for (int call = 0; call < 3; ++call) {
    addresses.clear();
    EXPECT_EQ(first_of(f({filled_vector(1 << 14, 1)})[0]), 9);
    addresses.pop_back();  // a result that is returned is new memory
    EXPECT_EQ(count_distinct(addresses), 2u) << "call " << call;
  }
}

TEST(MemoryPlan, SizesMayChangeBetweenCalls) {
  std::vector<const void*> addresses;
  const CompiledFunction f = chain_of(5, addresses);
  for (const std::int64_t size : {1 << 14, 1 << 15, 1, 1 << 14, 0, 1 << 16}) {
    const Array result = f({filled_vector(size, 2)})[0];
    ASSERT_EQ(result.size(), size);
    if (size > 0) {
      EXPECT_EQ(first_of(result), 7);
    }
  }
}

TEST(MemoryPlan, BufferWithALiveViewIsNotReused) {
  std::vector<const void*> addresses;
  const Variable x = input("x");
  const Variable a = apply(noted_plus(addresses), {x});
  const Variable view = apply(test::reversed(), {a});
  const Variable b = apply(noted_plus(addresses), {a});
  const Variable c = apply(noted_plus(addresses), {b});
  const Variable d = apply(noted_plus(addresses), {view});
  const CompiledFunction f = compile({x}, {c, d});
  const Array values = filled_vector(1 << 14, 0);
  static_cast<float*>(values.data())[0] = 100;
  for (int call = 0; call < 2; ++call) {
    const std::vector<Array> results = f({values});
    EXPECT_EQ(first_of(results[0]), 103);
    EXPECT_EQ(first_of(results[1]), 2) << "the view starts with the last element";
  }
}

TEST(MemoryPlan, CallAfterAFailedCallGivesTheRightResult) {
  std::vector<const void*> addresses;
  bool fails = false;
  const Ref<TestOp> may_fail =
      test::make_test_op("MayFail", [&fails](const TestOp::Cells& in, const TestOp::Cells& out) {
        if (fails) fail<ArgumentError>("requested failure");
        test::map_into(*in[0]->value, *out[0], [](float x) { return x * 2; });
      });
  const Variable x = input("x");
  Variable y = x;
  for (int i = 0; i < 4; ++i) y = apply(noted_plus(addresses), {y});
  y = apply(may_fail, {y});
  for (int i = 0; i < 4; ++i) y = apply(noted_plus(addresses), {y});
  const CompiledFunction f = compile({x}, {y});
  for (int call = 0; call < 6; ++call) {
    fails = call % 2 == 1;
    if (fails) {
      EXPECT_THROW(f({filled_vector(1 << 14, 1)}), ArgumentError);
    } else {
      EXPECT_EQ(first_of(f({filled_vector(1 << 14, 1)})[0]), 14);
    }
  }
}

TEST(MemoryPlan, ResultIsFreedAfterItsLastReaderIfGcIsAllowed) {
  std::vector<const void*> addresses;
  std::vector<long> live_counts;  // results in memory while each node runs
  std::vector<Ref<Cell>> cells;
  const auto counting =
      test::make_test_op("Counting", [&](const TestOp::Cells& in, const TestOp::Cells& out) {
        cells.push_back(in[0]);
        live_counts.push_back(std::count_if(cells.begin(), cells.end(), [](const Ref<Cell>& cell) {
          return cell->value.has_value();
        }));
        test::map_into(*in[0]->value, *out[0], [](float x) { return x + 1; });
      });
  const Variable x = input("x");
  Variable y = apply(noted_plus(addresses), {x});
  for (int i = 0; i < 5; ++i) y = apply(counting, {y});
  FunctionOptions options;
  options.device = cpu;
  options.mode.excluding = {"merge"};
  options.allow_gc = true;
  const CompiledFunction f = function({x}, {y}, options);
  EXPECT_EQ(first_of(f({filled_vector(1 << 14, 1)})[0]), 7);
  EXPECT_THAT(live_counts, testing::Each(1));
}

}  // namespace
}  // namespace spanwise
