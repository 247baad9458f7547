// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <exception>
#include <utility>

#include "graph/compile/placement.hpp"
#include "graph/order.hpp"
#include "graph/rebuild.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/graph/op.hpp"
#include "spanwise/graph/rewrite.hpp"

// Evaluates nodes with only constant inputs while the function is compiled.
namespace spanwise::graph {
namespace {

// Results stay in memory as long as the function, so larger ones are folded only if they are no
// larger than their inputs.
constexpr std::int64_t max_folded_bytes = 1 << 20;

bool may_fold(const Apply& node, const std::vector<Variable>& inputs) {
  const bool are_constant =
      std::ranges::all_of(inputs, [](const Variable& v) { return v.value() != nullptr; });
  return are_constant && node.op().destroy_map().empty() && node.op().foldable(node);
}

// Computes the values of the outputs; empty where the node cannot be evaluated now: it is then
// evaluated at each call, or fails there with its own error.
std::vector<Array> evaluate(const Apply& node, const std::vector<Variable>& constants,
                            Device fallback) {
  const Device device = device_of(node, fallback);
  std::vector<Ref<Cell>> inputs, outputs;
  std::int64_t input_bytes = 0;
  for (const Variable& constant : constants) {
    inputs.push_back(make_ref<Cell>());
    const Device target = constant.type().device().value_or(fallback);
    inputs.back()->value = to_device(*constant.value(), target).as_readonly();
    inputs.back()->computed = true;
    input_bytes += constant.value()->nbytes();
  }
  for (int i = 0; i < node.output_count(); ++i) outputs.push_back(make_ref<Cell>());
  const std::vector<bool> recyclable(outputs.size(), false);
  const auto thunk = node.op().make_thunk(ThunkContext(node, device, inputs, outputs, recyclable));
  if (thunk == nullptr || thunk->lazy()) return {};
  thunk->run();
  std::int64_t bytes = 0;
  for (int i = 0; i < node.output_count(); ++i) {
    const auto& value = outputs[static_cast<std::size_t>(i)]->value;
    if (!value || !node.output(i).type().matches(*value)) return {};
    bytes += value->nbytes();
  }
  if (bytes > std::max(max_folded_bytes, input_bytes)) return {};
  std::vector<Array> values;
  // Copies: an output may be a view of the constant's array, which the caller may modify later.
  for (const Ref<Cell>& cell : outputs) values.push_back(copy(*cell->value));
  return values;
}

bool try_fold(const Apply& node, const std::vector<Variable>& inputs, Device fallback,
              Rebuild& rebuild) {
  if (!may_fold(node, inputs)) return false;
  std::vector<Array> values;
  try {
    values = evaluate(node, inputs, fallback);
  } catch (const std::exception&) {
    return false;
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Variable old = node.output(static_cast<int>(i));
    rebuild.replace(old, Variable::constant(std::move(values[i]), old.type(), old.name()));
  }
  return node.output_count() > 0 && !values.empty();
}

int fold_constants(RewriteGraph& graph) {
  Rebuild rebuild;
  int changes = 0;
  for (const Ref<Apply>& node : nodes_for(graph.outputs, graph.inputs)) {
    std::vector<Variable> inputs = rebuild.current(node->inputs());
    if (!graph.is_late() && try_fold(*node, inputs, graph.device, rebuild))
      ++changes;
    else
      rebuild.visit_as_is(*node, std::move(inputs));
  }
  graph.outputs = rebuild.current(graph.outputs);
  return changes;
}

[[maybe_unused]] const bool fold_registered = register_rewrite(
    {.name = "fold_constants", .position = 20, .tags = {"fast_run"}, .apply = fold_constants});

}  // namespace
}  // namespace spanwise::graph
