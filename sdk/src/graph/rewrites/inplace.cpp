// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <unordered_map>
#include <utility>

#include "graph/order.hpp"
#include "graph/rebuild.hpp"
#include "spanwise/graph/op.hpp"
#include "spanwise/graph/rewrite.hpp"

// Lets a node overwrite an input that no other node reads: saves a buffer, and the input is likely
// in the cache.
namespace spanwise::graph {
namespace {

// The number of nodes that read each variable; being a function output counts as one more.
std::unordered_map<Variable, int> count_readers(const std::vector<Ref<Apply>>& nodes,
                                                const RewriteGraph& graph) {
  std::unordered_map<Variable, int> readers;
  for (const Ref<Apply>& node : nodes)
    for (const Variable& input : distinct(node->inputs())) ++readers[input];
  for (const Variable& output : graph.outputs) ++readers[output];
  return readers;
}

// Whether `variable` owns its memory and is read once: a mutable input, or an output that is not a
// view. An output that overwrites an input also owns its memory.
bool may_be_overwritten(const Variable& variable, const std::unordered_map<Variable, int>& readers,
                        const RewriteGraph& graph) {
  if (graph.inputs.contains(variable)) {
    if (!graph.mutable_inputs.contains(variable)) return false;
  } else if (variable.owner() == nullptr || !variable.owner()->op().has_unshared_outputs() ||
             variable.owner()->op().view_map().contains(variable.index())) {
    return false;
  }
  const auto count = readers.find(variable);
  return count != readers.end() && count->second == 1;
}

bool has_output_like(const Apply& node, const TensorType& type) {
  const std::vector<Variable> outputs = node.outputs();
  return std::ranges::any_of(outputs,
                             [&](const Variable& output) { return output.type() == type; });
}

// The variant of the node's op that overwrites as many of its inputs as it can; null where there is
// none.
Ref<const Op> overwriting_op(const Apply& node, const std::unordered_map<Variable, int>& readers,
                             const RewriteGraph& graph) {
  if (!node.op().destroy_map().empty() || !node.op().view_map().empty()) return {};
  const auto inputs = node.inputs();
  Ref<const Op> variant;
  int overwritten = 0;
  for (std::size_t i = 0; i < inputs.size() && overwritten < node.output_count(); ++i) {
    if (!has_output_like(node, inputs[i].type()) || !may_be_overwritten(inputs[i], readers, graph))
      continue;
    const auto here = inputs.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::find(inputs.begin(), here, inputs[i]) != here && variant) continue;
    const Op& current = variant ? *variant : node.op();
    const Ref<const Op> op = current.overwriting(static_cast<int>(i));
    const bool is_repeated = std::ranges::count(inputs, inputs[i]) > 1;
    if (!op || (is_repeated && !op->allows_aliased_inplace())) continue;
    variant = op;
    ++overwritten;
  }
  return variant;
}

int inplace(RewriteGraph& graph) {
  const std::vector<Ref<Apply>> nodes = nodes_for(graph.outputs, graph.inputs);
  const auto readers = count_readers(nodes, graph);
  Rebuild rebuild;
  int changes = 0;
  for (const Ref<Apply>& node : nodes) {
    std::vector<Variable> inputs = rebuild.current(node->inputs());
    const Ref<const Op> op =
        graph.is_late() ? Ref<const Op>() : overwriting_op(*node, readers, graph);
    if (!op) {
      rebuild.visit_as_is(*node, std::move(inputs));
      continue;
    }
    rebuild.visit_with(*node, op, std::move(inputs));
    ++changes;
  }
  graph.outputs = rebuild.current(graph.outputs);
  return changes;
}

[[maybe_unused]] const bool inplace_registered =
    register_rewrite({.name = "inplace", .position = 80, .tags = {"fast_run"}, .apply = inplace});

}  // namespace
}  // namespace spanwise::graph
