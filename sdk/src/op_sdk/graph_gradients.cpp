// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <unordered_map>

#include "graph/traversal.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/graph/hooks.hpp"
#include "spanwise/graph/op.hpp"
#include "spanwise/graph/rewrite.hpp"
#include "spanwise/op_sdk/expression.hpp"
#include "spanwise/runtime/devices.hpp"

namespace spanwise {
namespace {

using graph::VariableSet;

bool is_differentiable(const Variable& variable) {
  const DType dtype = variable.type().dtype();
  return dtype.is_floating() || dtype.is_complex();
}

std::vector<Variable> variables_of(const KnownGradients& known) {
  std::vector<Variable> variables;
  for (const auto& [variable, derivative] : known) variables.push_back(variable);
  return variables;
}

// `known` with its variables replaced by equal ones whose graph neither overflows nor cancels: the
// derivative of log(1 / (1 + exp(x))) is then finite for all x.
KnownGradients stabilized(const KnownGradients& known, std::span<const Variable> wrt,
                          std::span<const Variable> constants) {
  RewriteGraph graph{variables_of(known), {wrt.begin(), wrt.end()}, {}, default_device(), {}};
  graph.inputs.insert(constants.begin(), constants.end());
  for (const Rewrite& rewrite : rewrites())
    if (std::ranges::find(rewrite.tags, "stabilize") != rewrite.tags.end()) rewrite.apply(graph);
  KnownGradients result = known;
  for (std::size_t i = 0; i < result.size(); ++i) result[i].first = graph.outputs[i];
  return result;
}

/// Reverse accumulation over the nodes between the cost and the variables.
class Backward {
 public:
  Backward(const KnownGradients& known, std::span<const Variable> wrt,
           const GradientOptions& options)
      : constants_(options.consider_constant.begin(), options.consider_constant.end()),
        nodes_(graph::nodes_for(variables_of(known), constants_)),
        dependent_(wrt.begin(), wrt.end()) {
    find_dependent();
    for (const auto& [variable, derivative] : known) add(variable, derivative, "known_grads");
    for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) propagate_through(**node);
  }

  /// Null where the cost does not depend on `variable`.
  Variable derivative(const Variable& variable) const {
    const auto entry = derivatives_.find(variable);
    return entry == derivatives_.end() ? Variable() : entry->second;
  }

 private:
  // A variable is dependent if it is in `wrt`, or computed from a dependent one by an op that
  // connects them. Derivatives of other variables are not needed.
  void find_dependent() {
    for (const Ref<Apply>& node : nodes_)
      for (int output = 0; output < node->output_count(); ++output)
        if (is_differentiable(node->output(output)) && depends(*node, output))
          dependent_.insert(node->output(output));
  }

  bool depends(const Apply& node, int output) const {
    for (std::size_t i = 0; i < node.inputs().size(); ++i)
      if (is_needed(node.inputs()[i]) && node.op().connects(node, static_cast<int>(i), output))
        return true;
    return false;
  }

  bool is_needed(const Variable& variable) const {
    return dependent_.contains(variable) && is_differentiable(variable);
  }

  void propagate_through(const Apply& node) {
    std::vector<Cotangent> outputs;
    bool any_known = false;
    for (int i = 0; i < node.output_count(); ++i) {
      const auto entry = derivatives_.find(node.output(i));
      const bool is_known = entry != derivatives_.end() && dependent_.contains(node.output(i));
      outputs.push_back(is_known ? Cotangent(entry->second) : Cotangent());
      any_known |= is_known;
    }
    if (!any_known || !has_needed_input(node)) return;
    const std::vector<Cotangent> inputs = node.op().gradient(node, outputs);
    if (inputs.size() != node.inputs().size())
      fail<GraphError>("grad: the gradient of ", node.label(), " has ", inputs.size(),
                       " derivatives; expected one for each of its ", node.inputs().size(),
                       " inputs");
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const Variable& input = node.inputs()[i];
      if (!is_needed(input) || inputs[i].is_disconnected()) continue;
      if (inputs[i].is_undefined()) fail_undefined(node, i, inputs[i].reason());
      add(input, inputs[i].variable(), node.op().name());
    }
  }

  bool has_needed_input(const Apply& node) const {
    return std::ranges::any_of(node.inputs(),
                               [&](const Variable& input) { return is_needed(input); });
  }

  void add(const Variable& variable, const Variable& term, const std::string& source) {
    if (term.type().rank() != variable.type().rank())
      fail<GraphError>("grad: ", source, " gives a derivative of rank ", term.type().rank(),
                       " for ", variable.label(), " of ", variable.type(),
                       "; expected the rank of the variable");
    const Variable derivative = expression::cast(term, variable.type().dtype());
    const auto [entry, is_first] = derivatives_.try_emplace(variable, derivative);
    if (!is_first) entry->second = expression::operator+(entry->second, derivative);
  }

  [[noreturn]] static void fail_undefined(const Apply& node, std::size_t input,
                                          const std::string& reason) {
    const std::string& trace = node.trace();
    fail<GraphError>("grad: no derivative of ", node.label(), " with respect to its input ", input,
                     ": ", reason,
                     ". Remedy: name a variable between them in consider_constant=, or give the op "
                     "a gradient",
                     trace.empty() ? "" : "\nThe node was made here:\n", trace);
  }

  VariableSet constants_;
  std::vector<Ref<Apply>> nodes_;
  VariableSet dependent_;
  std::unordered_map<Variable, Variable> derivatives_;
};

void check_not_null(const Variable& variable) {
  if (!variable) fail<GraphError>("grad: expected variables, got a null variable");
}

void check_wrt(const Variable& variable) {
  check_not_null(variable);
  if (!is_differentiable(variable))
    fail<DTypeError>("grad: expected variables of floating dtypes, got ", variable.label(), " of ",
                     variable.type(), "; cast it to a floating dtype first");
}

Variable derivative_of_disconnected(const Variable& variable, DisconnectedInput choice) {
  const std::string problem = text("grad: the cost does not depend on ", variable.label(), " of ",
                                   variable.type(), " through differentiable ops");
  if (choice == DisconnectedInput::raise)
    fail<GraphError>(problem, "; disconnected_inputs=\"ignore\" gives zeros for it",
                     variable.trace_note());
  if (choice == DisconnectedInput::null_variable) return {};
  if (choice == DisconnectedInput::warn)
    graph::warn(problem + "; its derivative is zero" + variable.trace_note());
  return expression::zeros_like(variable);
}

}  // namespace

std::vector<Variable> gradients(const KnownGradients& known, std::span<const Variable> wrt,
                                const GradientOptions& options) {
  for (const Variable& variable : wrt) check_wrt(variable);
  for (const Variable& variable : options.consider_constant) check_not_null(variable);
  for (const auto& [variable, derivative] : known) {
    check_not_null(variable);
    check_not_null(derivative);
  }
  const Backward backward(stabilized(known, wrt, options.consider_constant), wrt, options);
  std::vector<Variable> derivatives;
  for (const Variable& variable : wrt) {
    const Variable derivative = backward.derivative(variable);
    derivatives.push_back(derivative ? derivative
                                     : derivative_of_disconnected(variable, options.disconnected));
  }
  return derivatives;
}

}  // namespace spanwise
