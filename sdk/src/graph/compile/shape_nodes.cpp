// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/compile/shape_nodes.hpp"

#include <algorithm>

#include "graph/compile/aliases.hpp"
#include "graph/compile/placement.hpp"
#include "spanwise/graph/op.hpp"

namespace spanwise::graph {
namespace {

VariableSet overwritten(const std::vector<Ref<Apply>>& nodes, const VariableSet& inputs) {
  VariableSet all;
  for (const Ref<Apply>& node : nodes)
    for (const auto& [output, overwritten_inputs] : node->op().destroy_map())
      for (const Variable& buffer : buffers_of(node->output(output), inputs))
        if (buffer.owner() != node.get()) all.insert(buffer);
  return all;
}

bool are_few_numbers(const Apply& node) {
  const auto outputs = node.outputs();
  return std::ranges::all_of(outputs, [](const Variable& output) {
    const TensorType& type = output.type();
    return type.rank() == 0 ||
           (type.rank() == 1 && type.has_fixed_shape() && type.shape()[0] <= max_rank);
  });
}

}  // namespace

NodeSet shape_nodes(const std::vector<Ref<Apply>>& nodes, const VariableSet& inputs,
                    const VariableSet& escaping, Device fallback) {
  const VariableSet changed = overwritten(nodes, inputs);
  NodeSet found;
  const auto depends_on_shapes = [&](const Apply& node, std::size_t i) {
    const Variable& input = node.inputs()[i];
    const bool is_leaf = input.owner() == nullptr || inputs.contains(input);
    if (!is_leaf) return found.contains(input.owner());
    const bool is_constant = input.value() != nullptr && !inputs.contains(input);
    return is_constant || node.op().reads_only_shape(static_cast<int>(i));
  };
  const auto stays = [&](const Variable& output) {
    return !escaping.contains(output) && !changed.contains(output);
  };
  for (const Ref<Apply>& node : nodes) {
    bool is_one = node->op().destroy_map().empty() && node->op().foldable(*node) &&
                  device_of(*node, fallback).is_cpu() && are_few_numbers(*node);
    for (std::size_t i = 0; i < node->inputs().size() && is_one; ++i)
      is_one = depends_on_shapes(*node, i);
    const auto outputs = node->outputs();
    if (is_one && std::ranges::all_of(outputs, stays)) found.insert(node.get());
  }
  return found;
}

}  // namespace spanwise::graph
