// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/compile/checks.hpp"

#include "graph/hooks_in_use.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::graph {

bool may_be_equal(const TensorType& a, const TensorType& b) {
  if (a.dtype() != b.dtype() || a.rank() != b.rank()) return false;
  for (int axis = 0; axis < a.rank(); ++axis) {
    const std::int64_t m = a.shape()[axis], n = b.shape()[axis];
    if (m != n && m != TensorType::any && n != TensorType::any) return false;
  }
  return true;
}

void check_function_inputs(const std::string& name, const std::vector<Variable>& inputs) {
  VariableSet seen;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Variable& input = inputs[i];
    if (!input) fail<GraphError>("function ", name, ": input ", i, " names no variable");
    if (input.value() != nullptr)
      fail<GraphError>("function ", name, ": input ", i, " (", input.label(),
                       ") is a constant; expected a variable without a value");
    if (input.container() != nullptr)
      fail<GraphError>("function ", name, ": input ", i, " (", input.label(),
                       ") is a shared variable, which already has a value; expected another "
                       "variable, put in its place by givens");
    if (!seen.insert(input).second)
      fail<GraphError>("function ", name, ": ", input.label(),
                       " occurs twice among the inputs, again at index ", i);
  }
}

void check_function_outputs(const std::string& name, const std::vector<Variable>& outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (!outputs[i]) fail<GraphError>("function ", name, ": output ", i, " names no variable");
}

void check_function_updates(const std::string& name, const FunctionOptions& options) {
  VariableSet seen;
  for (const auto& [shared, value] : options.updates) {
    if (!shared || !value)
      fail<GraphError>("function ", name, ": updates has a pair with no variable in it");
    if (shared.container() == nullptr)
      fail<GraphError>("function ", name, ": updates changes ", shared.label(),
                       ", which is no shared variable; make it one with shared()");
    if (!seen.insert(shared).second)
      fail<GraphError>("function ", name, ": updates changes ", shared.label(), " twice");
    if (!may_be_equal(shared.type(), value.type()))
      fail<GraphError>("function ", name, ": updates gives ", shared.label(), " of ", shared.type(),
                       " the value ", value.label(), " of ", value.type(),
                       "; expected the same dtype and axes: cast the value");
  }
}

void check_used_inputs(const std::string& name, const std::vector<Variable>& inputs,
                       std::span<const Variable> outputs, UnusedInput how) {
  if (how == UnusedInput::ignore) return;
  VariableSet used(outputs.begin(), outputs.end());
  for (const Ref<Apply>& node : nodes_for(outputs, VariableSet(inputs.begin(), inputs.end())))
    used.insert(node->inputs().begin(), node->inputs().end());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (used.contains(inputs[i])) continue;
    const std::string message =
        text("function ", name, ": no output needs the input at index ", i, ", ", inputs[i].label(),
             "; leave it out, or pass on_unused_input=\"ignore\" or \"warn\"");
    if (how == UnusedInput::raise) fail<GraphError>(message);
    warn(message);
  }
}

}  // namespace spanwise::graph
