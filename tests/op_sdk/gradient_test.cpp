// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/op_sdk/expression.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spanwise/op_sdk.hpp"

namespace spanwise {
namespace {

using ::testing::HasSubstr;

Variable float64_vector(const char* name) {
  return Variable(TensorType(float64, {TensorType::any}), name);
}

// The value of `result`, which has one element, for x = [3].
double value_at_three(const Variable& x, const Variable& result) {
  CompiledFunction f =
      function({x}, {result}, {.device = cpu, .on_unused_input = UnusedInput::ignore});
  return item(f(std::array{full(Shape{1}, Scalar(3.0), float64, cpu)})[0]).as_double();
}

/// Returns its second input; its gradient multiplies the cotangent by 10. Of its first input it
/// reads only the shape.
class TimesTen final : public Op {
 public:
  std::string name() const override { return "TimesTen"; }
  Ref<Apply> make_node(std::span<const Variable> inputs) const override {
    return Apply::make(Ref<const Op>(this), {inputs.begin(), inputs.end()},
                       {Variable(inputs[1].type())});
  }
  std::unique_ptr<Thunk> make_thunk(const ThunkContext& context) const override {
    return spanwise::make_thunk(
        [from = context.input(1), to = context.output(0)] { to->value = copy(*from->value); });
  }
  bool reads_only_shape(int input) const override { return input == 0; }
  std::vector<Cotangent> gradient(const Apply&, std::span<const Cotangent> outputs) const override {
    return {Cotangent(), expression::operator*(outputs[0].variable(), 10.0)};
  }
};

Variable times_ten(const Variable& shape, const Variable& x) {
  return (*make_ref<const TimesTen>())(std::array{shape, x})[0];
}

Variable one_like(const Variable& x) { return expression::number_like(1, x); }

TEST(Gradients, UseTheGradientOfAnOpWrittenInCxx) {
  const Variable x = float64_vector("x");
  const Variable cost = expression::apply("sum", {times_ten(x, x)});
  const std::vector<Variable> derivatives = gradients({{cost, one_like(cost)}}, std::array{x});
  EXPECT_EQ(value_at_three(x, derivatives[0]), 10);
}

TEST(Gradients, AnInputOfWhichOnlyTheShapeIsReadIsDisconnected) {
  const Variable x = float64_vector("x"), y = float64_vector("y");
  const Variable cost = expression::apply("sum", {times_ten(y, x)});
  const KnownGradients known{{cost, one_like(cost)}};
  EXPECT_THAT([&] { gradients(known, std::array{y}); },
              ::testing::ThrowsMessage<GraphError>(HasSubstr("does not depend on y")));
  const auto ignored =
      gradients(known, std::array{y}, {.disconnected = DisconnectedInput::null_variable});
  EXPECT_FALSE(ignored[0]);
}

TEST(Gradients, NoDerivativePassesThroughConsideredConstants) {
  const Variable x = float64_vector("x");
  const Variable square = expression::operator*(x, x);
  const Variable cost = expression::apply("sum", {expression::operator*(square, x)});
  const auto derivatives =
      gradients({{cost, one_like(cost)}}, std::array{x}, {.consider_constant = {square}});
  EXPECT_EQ(value_at_three(x, derivatives[0]), 9);
}

TEST(Gradients, NullVariablesAreRefused) {
  const Variable x(TensorType(float64, Shape{}), "x");
  const std::vector<Variable> wrt{x};
  EXPECT_THROW(gradients({{Variable(), x}}, wrt), GraphError);
  EXPECT_THROW(gradients({{x, Variable()}}, wrt), GraphError);
  EXPECT_THROW(gradients({{x, x}}, wrt, {.consider_constant = {Variable()}}), GraphError);
  for (const char* op : {"matmul", "add"})
    EXPECT_THROW(expression::call(op, x, Variable()), GraphError) << op;
  EXPECT_THROW(expression::apply("concatenate", {Variable()}, {{"axis", std::int64_t{0}}}),
               GraphError);
}

}  // namespace
}  // namespace spanwise
