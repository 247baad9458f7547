// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <numeric>

#include "op_sdk/plugin/plugin_op.hpp"
#include "op_sdk/plugin/table.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/op_sdk/expression.hpp"

// sw_op.gradient_op: how it is read from the tables, and the node that it becomes.
namespace spanwise::op_sdk {
namespace {

/// Reads and checks the declaration of one op; its members throw GraphError naming the op.
class GradientReader {
 public:
  GradientReader(const PluginOpTable& op, const PluginTable& table, const std::string& library)
      : op_(op.functions), table_(op), prefix_(text(library, ": op ", op.name, ": ")) {
    const std::string name = text(table.name_space, ".", op_.gradient_op);
    const auto gradient = std::ranges::find(table.ops, name, &PluginOpTable::name);
    expect(gradient != table.ops.end(), "its gradient_op ", op_.gradient_op,
           " is no op of the library; expected the name of one");
    gradient_ = &*gradient;
  }

  PluginGradient read() const { return {gradient_->name, inputs(), wrt(), properties()}; }

 private:
  template <class... Parts>
  void expect(bool condition, const Parts&... message) const {
    if (!condition) fail<GraphError>(prefix_, message...);
  }

  std::optional<std::vector<sw_gradient_input>> inputs() const {
    const bool is_listed = op_.gradient_inputs != nullptr;
    expect(is_listed || op_.gradient_input_count == 0, "gradient_inputs are ",
           op_.gradient_input_count, " at no address; expected an array of that many");
    std::optional<std::vector<sw_gradient_input>> list;
    if (is_listed)
      list.emplace(op_.gradient_inputs,
                   op_.gradient_inputs + std::max(op_.gradient_input_count, 0));
    const int count = is_listed ? op_.gradient_input_count : op_.input_count + 2 * op_.output_count;
    const int expected = gradient_->functions.input_count;
    const bool accepts_more = gradient_->has(SW_MORE_INPUTS);
    const bool is_fixed = is_listed || !table_.has(SW_MORE_INPUTS);
    expect(accepts_more ? count >= expected : count == expected && is_fixed,
           "gives its gradient_op ", gradient_->name, " ", count, is_fixed ? "" : " or more",
           " inputs; expected ", accepts_more ? "at least " : "", expected);
    for (const sw_gradient_input& input : list.value_or(std::vector<sw_gradient_input>())) {
      expect(input.kind >= SW_FROM_INPUT && input.kind <= SW_FROM_GRADIENT,
             "gradient_inputs has kind ", input.kind, "; expected SW_FROM_INPUT to ",
             "SW_FROM_GRADIENT");
      const int bound = input.kind == SW_FROM_INPUT ? op_.input_count : op_.output_count;
      expect(input.index >= 0 && input.index < bound, "gradient_inputs has ",
             input.kind == SW_FROM_INPUT ? "input " : "output ", input.index, " of ", bound);
    }
    return list;
  }

  std::vector<int> wrt() const {
    const int outputs = gradient_->functions.output_count;
    std::vector<int> list(static_cast<std::size_t>(outputs));
    std::iota(list.begin(), list.end(), 0);
    const bool is_listed = op_.gradient_wrt != nullptr;
    expect(!is_listed || op_.gradient_wrt_count == outputs, "gradient_wrt names ",
           op_.gradient_wrt_count, " inputs, and its gradient_op ", gradient_->name, " has ",
           outputs, " outputs; expected as many");
    if (is_listed) list.assign(op_.gradient_wrt, op_.gradient_wrt + outputs);
    for (std::size_t i = 0; i < list.size(); ++i)
      expect(list[i] >= 0 && list[i] < op_.input_count && std::ranges::count(list, list[i]) == 1,
             "output ", i, " of its gradient_op ", gradient_->name,
             " is the derivative with respect to input ", list[i], "; expected distinct inputs of ",
             op_.input_count);
    return list;
  }

  std::vector<std::string> properties() const {
    std::vector<std::string> names;
    for (const auto& [name, value, required] : gradient_->properties) {
      const auto own = std::ranges::find(table_.properties, name, &PluginProperty::name);
      const bool is_passed = own != table_.properties.end() && own->value.index() == value.index();
      expect(is_passed || !required, "its gradient_op ", gradient_->name, " requires the property ",
             name, "; expected one of that name and kind here");
      if (is_passed) names.push_back(name);
    }
    return names;
  }

  const sw_op& op_;
  const PluginOpTable& table_;
  std::string prefix_;
  const PluginOpTable* gradient_ = nullptr;
};

Variable derivative_or_zeros(const Apply& node, std::span<const Cotangent> outputs, int i) {
  const Cotangent& output = outputs[static_cast<std::size_t>(i)];
  return output.has_variable() ? output.variable() : expression::zeros_like(node.output(i));
}

std::vector<Variable> gradient_inputs(const PluginGradient& gradient, const Apply& node,
                                      std::span<const Cotangent> outputs) {
  std::vector<Variable> inputs;
  if (gradient.inputs) {
    for (const sw_gradient_input& input : *gradient.inputs)
      inputs.push_back(
          input.kind == SW_FROM_INPUT    ? node.inputs()[static_cast<std::size_t>(input.index)]
          : input.kind == SW_FROM_OUTPUT ? node.output(input.index)
                                         : derivative_or_zeros(node, outputs, input.index));
    return inputs;
  }
  inputs.assign(node.inputs().begin(), node.inputs().end());
  for (const Variable& output : node.outputs()) inputs.push_back(output);
  for (int i = 0; i < node.output_count(); ++i)
    inputs.push_back(derivative_or_zeros(node, outputs, i));
  return inputs;
}

}  // namespace

void read_gradients(PluginTable& table, const std::string& library) {
  for (PluginOpTable& op : table.ops)
    if (op.functions.gradient_op != nullptr)
      op.gradient = GradientReader(op, table, library).read();
}

std::vector<Cotangent> PluginOp::gradient(const Apply& node,
                                          std::span<const Cotangent> outputs) const {
  const PluginOpTable& table = instance_->table();
  std::vector<Cotangent> derivatives(
      node.inputs().size(),
      Cotangent::undefined(table.gradient ? "its gradient_op does not compute it"
                                          : "its library declares no gradient_op"));
  if (!table.gradient) return derivatives;
  OpProperties properties;
  for (std::size_t i = 0; i < table.properties.size(); ++i) {
    const std::string& name = table.properties[i].name;
    const auto& passed = table.gradient->properties;
    if (std::ranges::find(passed, name) != passed.end())
      properties.emplace(name, instance_->values()[i]);
  }
  const std::vector<Variable> result =
      (*make_op(table.gradient->op, properties))(gradient_inputs(*table.gradient, node, outputs));
  for (std::size_t i = 0; i < result.size(); ++i)
    derivatives[static_cast<std::size_t>(table.gradient->wrt[i])] = Cotangent(result[i]);
  return derivatives;
}

}  // namespace spanwise::op_sdk
