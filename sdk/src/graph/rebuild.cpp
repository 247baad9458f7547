// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/rebuild.hpp"

#include <algorithm>

#include "spanwise/core/error.hpp"
#include "spanwise/graph/op.hpp"

namespace spanwise::graph {
namespace {

bool same_types(std::span<const Variable> a, std::span<const Variable> b) {
  return std::ranges::equal(
      a, b, [](const Variable& x, const Variable& y) { return x.type() == y.type(); });
}

std::vector<Variable> new_variables_like(const std::vector<Variable>& variables) {
  std::vector<Variable> result;
  result.reserve(variables.size());
  for (const Variable& variable : variables) result.emplace_back(variable.type(), variable.name());
  return result;
}

// A node of the same op with other inputs. Equal input types give equal output types, so make_node
// is only called for other types.
Ref<Apply> with_inputs(const Apply& node, std::vector<Variable> inputs) {
  if (same_types(inputs, node.inputs()))
    return Apply::make(node.op_ref(), std::move(inputs), new_variables_like(node.outputs()));
  const Ref<Apply> result = node.op().make_node(inputs);
  if (!result || result->output_count() != node.output_count())
    fail<GraphError>(node.label(), ": make_node gave another number of outputs for other inputs");
  for (int i = 0; i < node.output_count(); ++i) result->output(i).set_name(node.output(i).name());
  return result;
}

// The replacement `by`, moved to the device that the type of `old` specifies.
Variable on_device_of(const Variable& old, const Variable& by) {
  const std::optional<Device>& device = old.type().device();
  if (!device || by.type().device() == device) return by;
  return (*transfer_op(*device))(std::span(&by, 1))[0];
}

void check_given(const Variable& old, const Variable& by, std::span<const Variable> inputs) {
  if (!old || !by) fail<GraphError>("function: givens has a pair with no variable in it");
  if (std::ranges::find(inputs, old) != inputs.end())
    fail<GraphError>("function: givens replaces ", old.label(), ", which is an input as well; ",
                     "leave it out of one of the two");
  const TensorType anywhere(old.type().dtype(), old.type().shape());
  if (!anywhere.includes(by.type()))
    fail<GraphError>("function: givens replaces ", old.label(), " of ", old.type(), " by ",
                     by.label(), " of ", by.type(), "; expected a variable of the first type");
}

}  // namespace

const Variable& Rebuild::current(const Variable& variable) const {
  const auto entry = replacements_.find(variable);
  return entry == replacements_.end() ? variable : entry->second;
}

std::vector<Variable> Rebuild::current(std::span<const Variable> variables) const {
  std::vector<Variable> result;
  result.reserve(variables.size());
  for (const Variable& variable : variables) result.push_back(current(variable));
  return result;
}

void Rebuild::visit(const Apply& node, std::vector<Variable> inputs) {
  if (std::ranges::equal(inputs, node.inputs())) return;
  replace_outputs(node, with_inputs(node, std::move(inputs)));
}

void Rebuild::visit_as_is(const Apply& node, std::vector<Variable> inputs) {
  if (std::ranges::equal(inputs, node.inputs())) return;
  visit_with(node, node.op_ref(), std::move(inputs));
}

void Rebuild::visit_with(const Apply& node, const Ref<const Op>& op, std::vector<Variable> inputs) {
  replace_outputs(node, Apply::make(op, std::move(inputs), new_variables_like(node.outputs())));
}

void Rebuild::replace_outputs(const Apply& node, const Ref<Apply>& by) {
  by->set_trace(node.trace());
  for (int i = 0; i < node.output_count(); ++i) replace(node.output(i), by->output(i));
}

std::vector<Variable> apply_givens(std::span<const Variable> outputs,
                                   const std::vector<std::pair<Variable, Variable>>& givens,
                                   std::span<const Variable> inputs) {
  if (givens.empty()) return {outputs.begin(), outputs.end()};
  VariableSet boundary(inputs.begin(), inputs.end());
  Rebuild rebuild;
  for (const auto& [old, by] : givens) {
    check_given(old, by, inputs);
    boundary.insert(old);
    rebuild.replace(old, on_device_of(old, by));
  }
  for (const Ref<Apply>& node : nodes_for(outputs, boundary)) rebuild.visit(*node);
  return rebuild.current(outputs);
}

}  // namespace spanwise::graph
