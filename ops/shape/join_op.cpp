// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <utility>
#include <vector>

#include "join.hpp"
#include "spanwise/op_sdk.hpp"
#include "spanwise/op_sdk/expression.hpp"

namespace spanwise::ops {
namespace {

/// numpy.concatenate along an axis that all inputs have (Theano's Join).
class Concatenate final : public NamedOp {
 public:
  explicit Concatenate(std::int64_t axis)
      : NamedOp(text("Concatenate{axis=", axis, '}')), axis_(static_cast<int>(axis)) {}

  Ref<Apply> make_node(std::span<const Variable> inputs) const override {
    if (inputs.empty()) fail<ArgumentError>(name(), ": need at least one variable");
    std::vector<Shape> shapes;
    std::vector<DType> dtypes;
    for (const Variable& input : inputs) {
      shapes.push_back(input.type().shape());
      dtypes.push_back(input.type().dtype());
    }
    TensorType type(promote(dtypes), joined_shape(shapes, axis_), common_device(*this, inputs));
    return make_apply(*this, inputs, std::move(type));
  }

  std::vector<ExtentSource> extent_sources(const Apply&, int, int axis) const override {
    if (axis == axis_) return {};
    return {{0, axis}};
  }
  Variable inferred_extent(const Apply& node, int, int axis) const override {
    Variable sum;
    for (const Variable& input : node.inputs()) {
      const Variable length = expression::inferred_extent(input, axis);
      sum = sum ? expression::operator+(sum, length) : length;
    }
    return sum;
  }

  // The derivative of each input is the slice of the output's derivative at its position along the
  // axis.
  std::vector<Cotangent> gradient(const Apply& node,
                                  std::span<const Cotangent> outputs) const override {
    std::string before;
    for (int axis = 0; axis < axis_; ++axis) before += ":, ";
    std::vector<Cotangent> derivatives;
    Variable begin;
    for (const Variable& input : node.inputs()) {
      const Variable length = expression::extent(input, axis_);
      const Variable end = begin ? expression::operator+(begin, length) : length;
      std::vector<Variable> inputs{outputs[0].variable()};
      if (begin) inputs.push_back(begin);
      inputs.push_back(end);
      derivatives.emplace_back(
          expression::apply("subtensor", inputs, {{"index", before + (begin ? "?:?" : ":?")}}));
      begin = end;
    }
    return derivatives;
  }

  std::unique_ptr<Thunk> make_thunk(const ThunkContext& context) const override {
    return spanwise::make_thunk([cells = context.inputs(), to = context.output(0), axis = axis_,
                                 dtype = context.node().output(0).type().dtype(),
                                 device = context.device()] {
      std::vector<Array> arrays;
      std::vector<Shape> shapes;
      for (const Ref<Cell>& cell : cells)
        shapes.push_back(arrays.emplace_back(to_device(*cell->value, device)).shape());
      const Shape shape = joined_shape(shapes, axis);
      concatenate_into(arrays, axis, output_array(*to, shape, dtype, device));
    });
  }

 private:
  int axis_;
};

[[maybe_unused]] const bool concatenate_registered =
    register_op_with<Concatenate, std::int64_t>("concatenate", "axis");

}  // namespace
}  // namespace spanwise::ops
