// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Calls of functions on a device whose work runs late, recorded and repeated: values, updates,
// which calls are recorded, and memory. Accesses to released memory are faults of the device.
#include "graph/recorded_calls.hpp"
#include "runtime/graph_memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "spanwise/graph/function.hpp"
#include "spanwise/graph/shared.hpp"
#include "spanwise/runtime/config.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"
#include "support/fake_devices.hpp"
#include "support/graph_ops.hpp"
#include "support/recording_stream.hpp"

namespace spanwise::graph {
namespace {

using test::TestOp;
using Values = std::vector<float>;
using Cells = TestOp::Cells;

struct Elements {
  explicit Elements(const Array& array, bool writes = false)
      : data(static_cast<float*>(array.data())), size(array.size()), stride(array.strides()[0]) {
    order_use(Stream::current(test::gpu), array, writes);
  }
  float& at(std::int64_t i) const { return data[i * stride]; }
  float* data;
  std::int64_t size, stride;
};

void queue(std::function<void()> work) {
  static_cast<test::LazyStream&>(runtime::current_stream(test::gpu)).queue(std::move(work));
}

Ref<TestOp> async_op(std::string name, TestOp::Work work) {
  Ref<TestOp> op = test::make_test_op(std::move(name), std::move(work));
  op->is_async = true;
  return op;
}

// x[i] + 2 y[i]
Ref<TestOp> sum_op() {
  return async_op("Sum", [](const Cells& in, const Cells& out) {
    const Elements x(*in[0]->value), y(*in[1]->value);
    const Elements z(output_array(*out[0], {x.size}, float32, test::gpu), true);
    queue([=] {
      for (std::int64_t i = 0; i < z.size; ++i) z.at(i) = x.at(i) + 2 * y.at(i);
    });
  });
}

// x[i] + 1 by way of an array that only the thunk refers to.
Ref<TestOp> plus_one() {
  return async_op("PlusOne", [](const Cells& in, const Cells& out) {
    const Elements x(*in[0]->value);
    const Array scratch = empty({x.size}, float32, test::gpu);
    const Elements s(scratch, true);
    const Elements z(output_array(*out[0], {x.size}, float32, test::gpu), true);
    queue([=] {
      for (std::int64_t i = 0; i < z.size; ++i) s.at(i) = x.at(i);
    });
    queue([=] {
      for (std::int64_t i = 0; i < z.size; ++i) z.at(i) = s.at(i) + 1;
    });
  });
}

Ref<TestOp> negated_in_place() {
  Ref<TestOp> op = async_op("NegatedInPlace", [](const Cells& in, const Cells& out) {
    out[0]->value = *in[0]->value;
    const Elements x(*in[0]->value, true);
    queue([=] {
      for (std::int64_t i = 0; i < x.size; ++i) x.at(i) = -x.at(i);
    });
  });
  op->destroys = {{0, {0}}};
  return op;
}

Ref<TestOp> reversed_view() {
  Ref<TestOp> op = async_op("Reversed", [](const Cells& in, const Cells& out) {
    out[0]->value = in[0]->value->slice(0, {{}, {}, -1});
  });
  op->views = {{0, {0}}};
  return op;
}

Variable apply(const Ref<TestOp>& op, std::vector<Variable> inputs) { return (*op)(inputs)[0]; }

Array on_gpu(const Values& values) {
  const Array host = empty({static_cast<std::int64_t>(values.size())}, float32, cpu);
  std::copy(values.begin(), values.end(), static_cast<float*>(host.data()));
  return to_device(host, test::gpu);
}

Values values_of(const Array& array) { return test::values_of(to_device(array, cpu)); }

FunctionOptions on_gpu_options() {
  FunctionOptions options;
  options.device = test::gpu;
  return options;
}

// x + 2 * (1 + ... + 1), of `length` nodes.
Variable chain(const Variable& x, int length) {
  Variable y = x;
  for (int i = 1; i < length; ++i) y = apply(plus_one(), {y});
  return apply(sum_op(), {x, y});
}
Values chain_of(Values x, int length) {
  for (float& value : x) value += 2 * (value + static_cast<float>(length - 1));
  return x;
}

class RecordedCallsTest : public test::RuntimeTest {
 protected:
  void TearDown() override {
    runtime::release_graph_memory();
    RuntimeTest::TearDown();
  }
  // The entries of the device's log since the last call that are `what`.
  std::ptrdiff_t count(const std::string& what) {
    return std::ranges::count(gpus().take_log(), what);
  }
};

TEST_F(RecordedCallsTest, ThirdCallOfOneShapeIsRecordedAndLaterOnesRepeatIt) {
  const Variable x = test::input("x");
  const CompiledFunction f = function({x}, {chain(x, 20)}, on_gpu_options());
  std::vector<Array> results;
  std::vector<Values> expected;
  for (int call = 0; call < 8; ++call) {
    const auto first = static_cast<float>(call);
    const Array argument = on_gpu({first, first + 1, -first});
    gpus().take_log();
    results.push_back(f(std::vector{argument})[0]);
    expected.push_back(chain_of({first, first + 1, -first}, 20));
    EXPECT_EQ(count("replay d0"), call >= 2) << call;
  }
  for (std::size_t i = 0; i < results.size(); ++i)
    EXPECT_EQ(values_of(results[i]), expected[i]) << i;
}

TEST_F(RecordedCallsTest, OtherShapesStridesAndSettingsRunTheProgram) {
  const Variable x = test::input("x");
  const CompiledFunction f = function({x}, {chain(x, 15)}, on_gpu_options());
  const Array a = on_gpu({1, 2, 3, 4});
  for (int call = 0; call < 4; ++call) f(std::vector{a});
  gpus().take_log();
  EXPECT_EQ(values_of(f(std::vector{on_gpu({5, 6})})[0]), chain_of({5, 6}, 15));
  EXPECT_EQ(values_of(f(std::vector{a.slice(0, {{}, {}, -1})})[0]), chain_of({4, 3, 2, 1}, 15));
  EXPECT_EQ(count("replay d0"), 0);
  EXPECT_EQ(values_of(f(std::vector{a})[0]), chain_of({1, 2, 3, 4}, 15));
  EXPECT_EQ(count("replay d0"), 1);
  config::set("launch_blocking", "0");  // any change
  EXPECT_EQ(values_of(f(std::vector{a})[0]), chain_of({1, 2, 3, 4}, 15));
  EXPECT_EQ(count("replay d0"), 0);
  const StreamGuard guard(Stream::create(test::gpu));
  EXPECT_EQ(values_of(f(std::vector{a})[0]), chain_of({1, 2, 3, 4}, 15));
  EXPECT_EQ(count("replay d0"), 0);
}

TEST_F(RecordedCallsTest, UpdatesKeepTheMemoryOfTheirVariable) {
  const Variable x = test::input("x"), w = shared(on_gpu({1, 2}), "w", test::gpu);
  FunctionOptions options = on_gpu_options();
  options.updates = {{w, apply(sum_op(), {w, x})}};
  const CompiledFunction f = function({x}, {chain(w, 14)}, options);
  Values expected{1, 2};
  std::optional<Array> held;
  Values held_values;
  for (int call = 0; call < 20; ++call) {
    const Array argument = on_gpu({1, static_cast<float>(call)});
    EXPECT_EQ(values_of(f(std::vector{argument})[0]), chain_of(expected, 14)) << call;
    expected[0] += 2;
    expected[1] += 2 * static_cast<float>(call);
    EXPECT_EQ(values_of(w.container()->get()), expected) << call;
    if (call == 10) held = w.container()->get(), held_values = expected;
    if (call == 15) w.container()->set(on_gpu(expected = {7, 8}));
  }
  EXPECT_EQ(values_of(*held), held_values);
}

TEST_F(RecordedCallsTest, SharedValuesAndHostNumbersAreThoseOfTheCall) {
  const Variable x = test::input("x"), w = shared(on_gpu({1, 2}), "w", test::gpu);
  const CompiledFunction f = function({x}, {apply(sum_op(), {chain(x, 14), w})}, on_gpu_options());
  for (int call = 0; call < 12; ++call) {
    const auto number = static_cast<float>(call / 4);
    if (call % 4 == 0) w.container()->set(on_gpu({number, -number}));
    Values expected = chain_of({1, 2}, 14);
    expected[0] += 2 * number, expected[1] -= 2 * number;
    EXPECT_EQ(values_of(f(std::vector{on_gpu({1, 2})})[0]), expected) << call;
  }
}

TEST_F(RecordedCallsTest, MemoryIsBoundedOverManyShapes) {
  const Variable x = test::input("x");
  const CompiledFunction f = function({x}, {chain(x, 16)}, on_gpu_options());
  int largest = 0;
  for (int round = 0; round < 500; ++round) {
    const Values values(static_cast<std::size_t>(1 + round), 1.0f);
    for (int call = 0; call < 4; ++call)
      EXPECT_EQ(values_of(f(std::vector{on_gpu(values)})[0]), chain_of(values, 16));
    largest = std::max(largest, gpus().live_blocks());
  }
  // For each recording and the program, at most three blocks a node: result, scratch, copies.
  EXPECT_LE(largest, 3 * 17 * (static_cast<int>(RecordedCalls::max_recordings) + 1));
  f.free();
}

// Random graphs with views, nodes that overwrite and updates, called with changing shapes, against
// plain loops.
TEST_F(RecordedCallsTest, RandomGraphsWithChangingShapes) {
  int functions = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
    struct DrawnNode {
      std::size_t kind, a, b;
    };
    const Variable shared_value = shared(on_gpu({1}), "w", test::gpu);
    std::vector<Variable> variables{test::input("x"), test::input("y"), shared_value};
    const std::vector<Ref<TestOp>> ops{sum_op(), plus_one(), negated_in_place(), reversed_view()};
    std::vector<DrawnNode> nodes;
    for (std::size_t i = 0; i < 14 + below(10); ++i) {
      const DrawnNode node{below(4), below(variables.size()), below(variables.size())};
      std::vector<Variable> inputs{variables[node.a]};
      if (node.kind == 0) inputs.push_back(variables[node.b]);
      variables.push_back(apply(ops[node.kind], inputs));
      nodes.push_back(node);
    }
    std::vector<std::size_t> outputs{variables.size() - 1, 3 + below(variables.size() - 3)};
    const std::size_t update = 3 + below(variables.size() - 3);
    FunctionOptions options = on_gpu_options();
    options.on_unused_input = UnusedInput::ignore;
    options.updates = {{shared_value, variables[update]}};
    std::optional<CompiledFunction> f;
    try {
      f = function({variables[0], variables[1]}, {variables[outputs[0]], variables[outputs[1]]},
                   options);
    } catch (const GraphError&) {  // a node overwrites what another one reads after it
      continue;
    }
    ++functions;
    Values w;
    std::size_t size = 0;
    std::vector<std::pair<Array, Values>> kept;
    for (int call = 0; call < 16; ++call) {
      if (call == 0 || below(5) == 0) {
        size = 1 + below(3);
        w.assign(size, 1);
        shared_value.container()->set(on_gpu(w));
      }
      std::vector<Values> values{Values(size), Values(size), w};
      for (std::size_t i = 0; i < 2; ++i)
        for (float& value : values[i]) value = static_cast<float>(below(7)) - 3;
      for (const DrawnNode& node : nodes) {
        Values result = values[node.a];
        for (std::size_t i = 0; i < size; ++i) {
          if (node.kind == 0) result[i] += 2 * values[node.b][i];
          if (node.kind == 1) result[i] += 1;
          if (node.kind == 2) result[i] = -result[i];
        }
        if (node.kind == 3) std::ranges::reverse(result);
        values.push_back(result);
      }
      const std::vector<Array> results = (*f)(std::vector{on_gpu(values[0]), on_gpu(values[1])});
      for (std::size_t i = 0; i < 2; ++i) {
        ASSERT_EQ(values_of(results[i]), values[outputs[i]]) << "seed " << seed << " call " << call;
        if (below(2) == 0) kept.emplace_back(results[i], values[outputs[i]]);
      }
      w = values[update];
      ASSERT_EQ(values_of(shared_value.container()->get()), w) << "seed " << seed;
    }
    for (const auto& [array, values] : kept) EXPECT_EQ(values_of(array), values);
  }
  EXPECT_GT(functions, 100);
}

}  // namespace
}  // namespace spanwise::graph
