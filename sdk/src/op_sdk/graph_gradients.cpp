// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <unordered_map>

#include "graph/lazy_conditions.hpp"
#include "graph/traversal.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/graph/hooks.hpp"
#include "spanwise/graph/op.hpp"
#include "spanwise/graph/rewrite.hpp"
#include "spanwise/op_sdk/expression.hpp"
#include "spanwise/runtime/creation.hpp"
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

// A truth value on the host, where conditions are read.
Variable truth(bool value) {
  return Variable::constant(full(Shape{}, Scalar(value), bool_, cpu),
                            TensorType(bool_, Shape(), cpu), "");
}

/// A derivative that is `value` where `condition` holds and 0 elsewhere. The graph of `value` may
/// fail elsewhere, or have no finite value, as that of a branch that is not taken.
struct ConditionalDerivative {
  Variable value;
  int condition = graph::LazyConditions::always;
};

/// Sums of derivatives that lazy ops compute where conditions hold.
class ConditionalSums {
 public:
  using Term = ConditionalDerivative;

  int within(int outer, const Variable& number, bool is_true) {
    return conditions_.within(outer, number, is_true);
  }

  Term sum(const Term& a, const Term& b) {
    if (a.condition == b.condition) return {expression::operator+(a.value, b.value), a.condition};
    const int common = conditions_.common(a.condition, b.condition);
    const Variable where_a =
        conditions_.are_opposite(a.condition, b.condition)
            ? a.value
            : chosen(common, b.condition, expression::operator+(a.value, b.value), a.value);
    return {chosen(common, a.condition, where_a, b.value), either(a.condition, b.condition)};
  }

  int either(int a, int b) {
    return conditions_.either(a, b, [&] {
      const int common = conditions_.common(a, b);
      return chosen(common, a, truth(true), chosen(common, b, truth(true), truth(false)));
    });
  }

  /// The derivative with respect to `variable` where `condition`, which the term's implies, holds.
  Variable value_where(int condition, const Term& term, const Variable& variable) const {
    if (condition == term.condition) return term.value;
    return chosen(conditions_.common(condition, term.condition), term.condition, term.value,
                  expression::zeros_like(variable));
  }

 private:
  // `a` where `condition` holds, else `b`, where `outer` holds, which is around it.
  Variable chosen(int outer, int condition, Variable a, const Variable& b) const {
    for (; condition != outer; condition = conditions_.link(condition).outer) {
      const auto& link = conditions_.link(condition);
      a = link.is_true ? expression::call("ifelse", link.number, a, b)
                       : expression::call("ifelse", link.number, b, a);
    }
    return a;
  }

  graph::LazyConditions conditions_;
};

/// Reverse accumulation over the nodes between the cost and the variables.
class Backward {
 public:
  Backward(const KnownGradients& known, std::span<const Variable> wrt,
           const GradientOptions& options)
      : constants_(options.consider_constant.begin(), options.consider_constant.end()),
        nodes_(graph::nodes_for(variables_of(known), constants_)),
        dependent_(wrt.begin(), wrt.end()) {
    find_dependent();
    for (const auto& [variable, derivative] : known) add(variable, {derivative}, "known_grads");
    for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) propagate_through(**node);
  }

  /// Null where the cost does not depend on `variable`.
  Variable derivative(const Variable& variable) const {
    const auto entry = derivatives_.find(variable);
    if (entry == derivatives_.end()) return {};
    return sums_.value_where(graph::LazyConditions::always, entry->second, variable);
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

  // The derivative with respect to the output; null where it is not known or not needed.
  const ConditionalDerivative* known_of(const Variable& output) const {
    const auto entry = derivatives_.find(output);
    return entry != derivatives_.end() && dependent_.contains(output) ? &entry->second : nullptr;
  }

  void propagate_through(const Apply& node) {
    std::optional<int> condition;  // where the derivative of an output may be other than 0
    for (const Variable& output : node.outputs())
      if (const auto* known = known_of(output))
        condition = condition ? sums_.either(*condition, known->condition) : known->condition;
    if (!condition || !has_needed_input(node)) return;
    std::vector<Cotangent> outputs;
    for (const Variable& output : node.outputs()) {
      const auto* known = known_of(output);
      outputs.push_back(known ? Cotangent(sums_.value_where(*condition, *known, output))
                              : Cotangent());
    }
    const std::vector<Cotangent> inputs = node.op().gradient(node, outputs);
    if (inputs.size() != node.inputs().size())
      fail<GraphError>("grad: the gradient of ", node.label(), " has ", inputs.size(),
                       " derivatives; expected one for each of its ", node.inputs().size(),
                       " inputs");
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const Variable& input = node.inputs()[i];
      if (!is_needed(input) || inputs[i].is_disconnected()) continue;
      if (inputs[i].is_undefined()) fail_undefined(node, i, inputs[i].reason());
      const auto choice = node.op().needed_if(static_cast<int>(i));
      const int where =
          choice ? sums_.within(*condition, node.inputs()[static_cast<std::size_t>(choice->input)],
                                choice->is_true)
                 : *condition;
      add(input, {inputs[i].variable(), where}, node.op().name());
    }
  }

  bool has_needed_input(const Apply& node) const {
    return std::ranges::any_of(node.inputs(),
                               [&](const Variable& input) { return is_needed(input); });
  }

  void add(const Variable& variable, ConditionalDerivative term, const std::string& source) {
    if (term.value.type().rank() != variable.type().rank())
      fail<GraphError>("grad: ", source, " gives a derivative of rank ", term.value.type().rank(),
                       " for ", variable.label(), " of ", variable.type(),
                       "; expected the rank of the variable");
    term.value = expression::cast(term.value, variable.type().dtype());
    const auto [entry, is_first] = derivatives_.try_emplace(variable, term);
    if (!is_first) entry->second = sums_.sum(entry->second, term);
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
  ConditionalSums sums_;
  std::unordered_map<Variable, ConditionalDerivative> derivatives_;
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
