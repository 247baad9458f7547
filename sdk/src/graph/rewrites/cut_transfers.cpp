// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "graph/compile/placement.hpp"
#include "graph/order.hpp"
#include "graph/rebuild.hpp"
#include "spanwise/graph/rewrite.hpp"
#include "spanwise/graph/op.hpp"

// Removes redundant transfers: a transfer of a transfer becomes one transfer from the original
// value, and a transfer to the device the value is on is dropped.
namespace spanwise::graph {
namespace {

int cut_transfers(RewriteGraph& graph) {
  Rebuild rebuild;
  int changes = 0;
  for (const Ref<Apply>& node : nodes_for(graph.outputs, graph.inputs)) {
    std::vector<Variable> inputs = rebuild.current(node->inputs());
    const auto target = transfer_target(node->op());
    Apply* producer = target && !graph.inputs.contains(inputs[0]) ? inputs[0].owner() : nullptr;
    if (producer != nullptr && transfer_target(producer->op())) {
      inputs[0] = producer->inputs()[0];
      ++changes;
    }
    if (target && device_of(inputs[0], graph.inputs, graph.device) == *target)
      rebuild.replace(node->output(0), inputs[0]);
    else
      rebuild.visit_as_is(*node, std::move(inputs));
  }
  graph.outputs = rebuild.current(graph.outputs);
  return changes;
}

[[maybe_unused]] const bool cut_registered = register_rewrite({.name = "cut_transfers",
                                                               .position = 30,
                                                               .tags = {"fast_run", "transfers"},
                                                               .apply = cut_transfers});

}  // namespace
}  // namespace spanwise::graph
