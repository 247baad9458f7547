// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/graph/function.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spanwise/core/error.hpp"
#include "support/graph_ops.hpp"
#include "support/message_of.hpp"

namespace spanwise {
namespace {

using test::apply;
using test::input;
using test::message_of;
using test::on_cpu;
using test::plus;
using test::TestOp;
using test::values_of;
using test::vector_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Function, RunsAChainInOrder) {
  const Variable x = input("x");
  const CompiledFunction f = function({x}, {apply(plus(10), {apply(plus(1), {x})})}, on_cpu());
  EXPECT_THAT(values_of(f({vector_of({1, 2})})[0]), ElementsAre(12, 13));
  EXPECT_THAT(values_of(f({vector_of({5})})[0]), ElementsAre(16));
  EXPECT_EQ(f.toposort().size(), 2u);
  EXPECT_EQ(f.name(), "f");
  EXPECT_EQ(f.device(), cpu);
}

TEST(Function, ComputesASharedNodeOnce) {
  int runs = 0;
  const auto op =
      test::make_test_op("Count", [&](const TestOp::Cells& in, const TestOp::Cells& out) {
        ++runs;
        test::map_into(*in[0]->value, *out[0], [](float x) { return 2 * x; });
      });
  const Variable x = input("x"), y = apply(op, {x});
  const CompiledFunction f = function({x}, {apply(plus(1), {y}), apply(plus(2), {y}), y}, on_cpu());
  const std::vector<Array> results = f({vector_of({3})});
  EXPECT_EQ(runs, 1);
  EXPECT_THAT(values_of(results[0]), ElementsAre(7));
  EXPECT_THAT(values_of(results[1]), ElementsAre(8));
  EXPECT_THAT(values_of(results[2]), ElementsAre(6));
}

TEST(Function, DeepGraphRunsWithoutRecursion) {
  const Ref<TestOp> op = plus(1);
  const Variable x = input("x");
  Variable y = x;
  for (int i = 0; i < 100'000; ++i) y = apply(op, {y});
  const CompiledFunction f = function({x}, {y}, on_cpu());
  EXPECT_THAT(values_of(f({vector_of({0})})[0]), ElementsAre(100'000));
}

TEST(Function, InputsMayCutTheGraph) {
  const Variable x = input("x"), y = apply(plus(1), {x}), z = apply(plus(10), {y});
  const CompiledFunction f = function({y}, {z}, on_cpu());
  EXPECT_EQ(f.toposort().size(), 1u);
  EXPECT_THAT(values_of(f({vector_of({1})})[0]), ElementsAre(11));
}

TEST(Function, ConstantsAreUsed) {
  const auto add = test::make_test_op("Add", [](const TestOp::Cells& in, const TestOp::Cells& out) {
    const float amount = static_cast<float>(item(in[1]->value->index(0, 0)).as_double());
    test::map_into(*in[0]->value, *out[0], [=](float x) { return x + amount; });
  });
  const Variable x = input("x"), c = Variable::constant(vector_of({100}));
  const CompiledFunction f = function({x}, {apply(add, {x, c}), c}, on_cpu());
  f({vector_of({0})});
  const std::vector<Array> results = f({vector_of({1})});
  EXPECT_THAT(values_of(results[0]), ElementsAre(101));
  EXPECT_THAT(values_of(results[1]), ElementsAre(100));
  EXPECT_FALSE(may_share_memory(results[1], *c.value()));
  EXPECT_FALSE(results[1].readonly());
}

TEST(Function, OpsFindConstantsReadOnly) {
  bool readonly = false;
  const auto op =
      test::make_test_op("Observe", [&](const TestOp::Cells& in, const TestOp::Cells& out) {
        readonly = in[0]->value->readonly();
        out[0]->value = copy(*in[0]->value);
      });
  function({}, {apply(op, {Variable::constant(vector_of({1}))})}, on_cpu())({});
  EXPECT_TRUE(readonly);
}

TEST(Function, RefusesABadInputNamingFunctionAndInput) {
  const Variable x = input("x"), y = input("y");
  const CompiledFunction f = function({x, y}, {apply(plus(1), {x}), y}, on_cpu("train"));
  const Array good = vector_of({1});
  const auto message = [&](std::vector<Array> arguments) {
    return message_of<InputError>([&] { f(std::span<const Array>(arguments)); });
  };
  EXPECT_EQ(message({good, empty(Shape{1}, float64, cpu)}),
            "Bad input argument to function train at index 1 (0-based), y of "
            "TensorType(float32, vector): expected dtype float32, got float64");
  EXPECT_THAT(message({empty(Shape{1, 2}, float32, cpu), good}),
              HasSubstr("expected 1 axes, got 2"));
  EXPECT_THAT(message({good}), HasSubstr("function train: expected 2 inputs, got 1"));
}

TEST(Function, InvalidGraphIsRefused) {
  const Variable x = input("x"), y = input("y"), c = Variable::constant(vector_of({1}));
  const Variable z = apply(plus(1), {x});
  const auto message = [](std::vector<Variable> inputs, std::vector<Variable> outputs) {
    return message_of<GraphError>([&] { function(inputs, outputs, on_cpu()); });
  };
  EXPECT_THAT(message({}, {z}),
              HasSubstr("x of TensorType(float32, vector), which Plus(x) needs, is "
                        "neither an input nor a constant"));
  EXPECT_THAT(message({x, x}, {z}), HasSubstr("x occurs twice"));
  EXPECT_THAT(message({x, y}, {z}), HasSubstr("no output needs the input at index 1, y"));
  EXPECT_THAT(message({x, c}, {z}), HasSubstr("is a constant"));
  EXPECT_THAT(message({x, Variable()}, {z}), HasSubstr("names no variable"));
  EXPECT_THAT(message({x}, {Variable()}), HasSubstr("names no variable"));
}

TEST(Function, UnusedInputsMayBeIgnored) {
  const Variable x = input("x"), y = input("y");
  FunctionOptions options = on_cpu();
  options.on_unused_input = UnusedInput::ignore;
  const CompiledFunction f = function({x, y}, {x}, options);
  EXPECT_THAT(values_of(f({vector_of({1}), vector_of({2})})[0]), ElementsAre(1));
}

TEST(Function, GivensReplaceWithoutChangingTheGraph) {
  const Variable x = input("x"), y = input("y"), z = apply(plus(10), {apply(plus(1), {x})});
  FunctionOptions options = on_cpu();
  options.givens = {{x, apply(plus(100), {y})}};
  EXPECT_THAT(values_of(function({y}, {z}, options)({vector_of({0})})[0]), ElementsAre(111));
  EXPECT_THAT(values_of(function({x}, {z}, on_cpu())({vector_of({0})})[0]), ElementsAre(11));
}

TEST(Function, GivensMustFit) {
  const Variable x = input("x"), z = apply(plus(1), {x});
  const auto message = [&](Variable replaced, Variable replacement) {
    FunctionOptions options = on_cpu();
    options.givens = {{replaced, replacement}};
    return message_of<GraphError>([&] { function({x}, {z}, options); });
  };
  EXPECT_THAT(message(x, input("y")), HasSubstr("which is an input as well"));
  EXPECT_THAT(message(z, Variable(TensorType(float64, Shape{-1}))), HasSubstr("float64"));
}

TEST(Function, AThunkThatBreaksItsContractIsNamed) {
  const auto run = [](TestOp::Work work) {
    const Variable x = input("x");
    const CompiledFunction f =
        function({x}, {apply(test::make_test_op("Bad", std::move(work)), {x})}, on_cpu());
    return message_of<GraphError>([&] { f({vector_of({1})}); });
  };
  using Cells = TestOp::Cells;
  EXPECT_THAT(run([](const Cells&, const Cells&) {}), HasSubstr("Bad: output 0 was not computed"));
  EXPECT_THAT(
      run([](const Cells&, const Cells& out) { out[0]->value = empty(Shape{1}, int32, cpu); }),
      HasSubstr("expected dtype float32, got int32"));
  EXPECT_THAT(
      run([](const Cells&, const Cells& out) { out[0]->value = empty(Shape{}, float32, cpu); }),
      HasSubstr("expected 1 axes, got 0"));
}

TEST(Function, ErrorKeepsItsTypeAndNamesTheNode) {
  bool fails = true;
  const auto bad =
      test::make_test_op("Bad", [&](const TestOp::Cells& in, const TestOp::Cells& out) {
        if (fails) throw DeviceError("it broke", 719, "LAUNCH_FAILED");
        out[0]->value = copy(*in[0]->value);
      });
  const Variable x = input("x"), y = apply(bad, {apply(plus(1), {x})});
  y.owner()->set_trace("  File \"user.py\", line 3");
  const CompiledFunction f = function({x}, {apply(plus(1), {y})}, on_cpu("train"));
  try {
    f({vector_of({1, 2})});
    FAIL() << "nothing was thrown";
  } catch (const DeviceError& e) {
    EXPECT_EQ(e.code(), 719);
    EXPECT_EQ(e.name(), "LAUNCH_FAILED");
    EXPECT_THAT(e.what(),
                HasSubstr("it broke\nApply node that caused the error: Bad(Plus.0)\n"
                          "Toposort index: 1 of function train\n"
                          "Inputs types: [TensorType(float32, vector)]\n"
                          "Inputs shapes: [(2,)]\nInputs strides: [(4,)]\n"
                          "Inputs values: [[2.0, 3.0]]\nOutputs clients: [[Plus(Bad.0)]]\n"
                          "Created at:\n  File \"user.py\", line 3"));
  }
  fails = false;
  EXPECT_THAT(values_of(f({vector_of({1})})[0]), ElementsAre(3));
}

TEST(Function, ErrorOfDerivedClassKeepsItsTypeAndNamesTheNode) {
  const auto message_for = [](auto error) {
    const auto bad =
        test::make_test_op("Bad", [=](const TestOp::Cells&, const TestOp::Cells&) { throw error; });
    const Variable x = input("x");
    const CompiledFunction f = function({x}, {apply(bad, {x})}, on_cpu());
    return message_of<decltype(error)>([&] { f({vector_of({1})}); });
  };
  const std::string expected = "it broke\nApply node that caused the error: Bad(x)";
  EXPECT_THAT(message_for(KernelFaultError("it broke", 719)), HasSubstr(expected));
  EXPECT_THAT(message_for(AxisError("it broke")), HasSubstr(expected));
  EXPECT_THAT(message_for(SharingError("it", {"broke", "copy it"})),
              HasSubstr("it: broke; copy it\nApply node that caused the error: Bad(x)"));
}

TEST(Function, DebugModeReportsAnInputThatWasReplacedByASmallerArray) {
  const auto bad = test::make_test_op("Bad", [](const TestOp::Cells& in, const TestOp::Cells& out) {
    out[0]->value = copy(*in[0]->value);
    in[0]->value = vector_of({1});
  });
  const Variable x = input("x");
  FunctionOptions options = on_cpu();
  options.mode.name = "debug";
  const CompiledFunction f = function({x}, {apply(bad, {x})}, options);
  EXPECT_THAT(message_of<GraphError>([&] { f({vector_of({1, 2, 3})}); }),
              HasSubstr("Bad: changed its input 0"));
}

TEST(Function, ForeignExceptionsPassUnchanged) {
  struct Foreign {
    int number;
  };
  const auto bad = test::make_test_op(
      "Bad", [](const TestOp::Cells&, const TestOp::Cells&) { throw Foreign{42}; });
  const Variable x = input("x");
  const CompiledFunction f = function({x}, {apply(bad, {x})}, on_cpu());
  try {
    f({vector_of({1})});
    FAIL() << "nothing was thrown";
  } catch (const Foreign& e) {
    EXPECT_EQ(e.number, 42);
  }
}

TEST(Function, RefusesToCallItself) {
  std::vector<CompiledFunction> self;
  const auto op =
      test::make_test_op("Call", [&](const TestOp::Cells& in, const TestOp::Cells& out) {
        const Array x = *in[0]->value;
        out[0]->value = self.front()({x})[0];
      });
  const Variable x = input("x");
  self.push_back(function({x}, {apply(op, {x})}, on_cpu()));
  EXPECT_THAT(message_of<GraphError>([&] { self.front()({vector_of({1})}); }),
              HasSubstr("expected no recursion"));
  self.clear();
}

}  // namespace
}  // namespace spanwise
