// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <numeric>

#include "op_sdk/plugin/plugin_op.hpp"
#include "op_sdk/plugin/table.hpp"
#include "spanwise/error.hpp"
#include "spanwise/op_sdk/expression.hpp"

// sw_op.gradient_op: how it is read from the tables, and the node that it becomes.
namespace spanwise::op_sdk {
namespace {

/// Reads and checks the declaration of one op; its members throw GraphError naming the op.
class GradientReader {
 public:
  GradientReader(const PluginOpTable& op, const PluginTable& table, const std::string& library)
      : op_(op.functions), own_(op), prefix_(text(library, ": op ", op.name, ": ")) {
    const std::string name = text(table.name_space, ".", op_.gradient_op);
    const auto found = std::ranges::find_if(
        table.ops, [&](const PluginOpTable& other) { return other.name == name; });
    expect(found != table.ops.end(), "its gradient_op ", op_.gradient_op,
           " is no op of the library; expected the name of one");
    gradient_ = &*found;
  }

  PluginGradient read() const { return {gradient_->name, inputs(), wrt(), properties()}; }

 private:
  template <class... What>
  void expect(bool condition, const What&... what) const {
    if (!condition) fail<GraphError>(prefix_, what...);
  }

  std::optional<std::vector<sw_gradient_input>> inputs() const {
    const bool is_listed = op_.gradient_inputs != nullptr;
    expect(is_listed || op_.gradient_input_count == 0, "gradient_inputs are ",
           op_.gradient_input_count, " at no address; expected an array of that many");
    std::optional<std::vector<sw_gradient_input>> list;
    if (is_listed)
      list.emplace(op_.gradient_inputs,
                   op_.gradient_inputs + std::max(op_.gradient_input_count, 0));
    const int given = is_listed ? op_.gradient_input_count : op_.input_count + 2 * op_.output_count;
    const int taken = gradient_->functions.input_count;
    const bool more = gradient_->has(SW_MORE_INPUTS);
    expect(more ? given >= taken : given == taken && (is_listed || !own_.has(SW_MORE_INPUTS)),
           "gives its gradient_op ", gradient_->name, " ", given,
           is_listed || !own_.has(SW_MORE_INPUTS) ? "" : " or more", " inputs; expected ",
           more ? "at least " : "", taken);
    for (const sw_gradient_input& input : list.value_or(std::vector<sw_gradient_input>())) {
      expect(input.kind >= SW_FROM_INPUT && input.kind <= SW_FROM_GRADIENT,
             "gradient_inputs has kind ", input.kind, "; expected SW_FROM_INPUT to ",
             "SW_FROM_GRADIENT");
      const int count = input.kind == SW_FROM_INPUT ? op_.input_count : op_.output_count;
      expect(input.index >= 0 && input.index < count, "gradient_inputs has ",
             input.kind == SW_FROM_INPUT ? "input " : "output ", input.index, " of ", count);
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
      expect(list[i] >= 0 && list[i] < op_.input_count &&
                 std::find(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(i), list[i]) ==
                     list.begin() + static_cast<std::ptrdiff_t>(i),
             "output ", i, " of its gradient_op ", gradient_->name,
             " is the derivative with respect to input ", list[i], "; expected distinct inputs of ",
             op_.input_count);
    return list;
  }

  std::vector<std::string> properties() const {
    std::vector<std::string> names;
    for (const PluginProperty& wanted : gradient_->properties) {
      const auto found = std::ranges::find_if(own_.properties, [&](const PluginProperty& property) {
        return property.name == wanted.name;
      });
      const bool is_given =
          found != own_.properties.end() && found->value.index() == wanted.value.index();
      expect(is_given || !wanted.required, "its gradient_op ", gradient_->name,
             " requires the property ", wanted.name, "; expected one of that name and kind here");
      if (is_given) names.push_back(wanted.name);
    }
    return names;
  }

  const sw_op& op_;
  const PluginOpTable& own_;
  std::string prefix_;
  const PluginOpTable* gradient_ = nullptr;
};

Variable derivative_or_zeros(const Apply& node, std::span<const Cotangent> outputs, int i) {
  const Cotangent& given = outputs[static_cast<std::size_t>(i)];
  return given.has_variable() ? given.variable() : expression::zeros_like(node.output(i));
}

std::vector<Variable> gradient_inputs(const PluginGradient& gradient, const Apply& node,
                                      std::span<const Cotangent> outputs) {
  std::vector<Variable> given;
  if (gradient.inputs) {
    for (const sw_gradient_input& input : *gradient.inputs)
      given.push_back(
          input.kind == SW_FROM_INPUT    ? node.inputs()[static_cast<std::size_t>(input.index)]
          : input.kind == SW_FROM_OUTPUT ? node.output(input.index)
                                         : derivative_or_zeros(node, outputs, input.index));
    return given;
  }
  given.assign(node.inputs().begin(), node.inputs().end());
  for (const Variable& output : node.outputs()) given.push_back(output);
  for (int i = 0; i < node.output_count(); ++i)
    given.push_back(derivative_or_zeros(node, outputs, i));
  return given;
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
