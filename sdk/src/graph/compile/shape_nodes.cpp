// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/compile/shape_nodes.hpp"

#include <algorithm>

#include "graph/compile/aliases.hpp"
#include "graph/compile/placement.hpp"
#include "spanwise/graph/op.hpp"

namespace spanwise::graph {
namespace {

VariableSet overwritten_variables(const std::vector<Ref<Apply>>& nodes, const VariableSet& inputs) {
  VariableSet all;
  for (const Ref<Apply>& node : nodes)
    for (const auto& [output, overwritten_inputs] : node->op().destroy_map())
      for (const Variable& buffer : buffers_of(node->output(output), inputs))
        if (buffer.owner() != node.get()) all.insert(buffer);
  return all;
}

}  // namespace

bool outputs_are_few_numbers(const Apply& node) {
  const auto outputs = node.outputs();
  return std::ranges::all_of(outputs, [](const Variable& output) {
    const TensorType& type = output.type();
    return type.rank() == 0 ||
           (type.rank() == 1 && type.has_fixed_shape() && type.shape()[0] <= max_rank);
  });
}

NodeSet shape_nodes(const std::vector<Ref<Apply>>& nodes, const VariableSet& inputs,
                    const VariableSet& escaping, Device fallback) {
  const VariableSet overwritten = overwritten_variables(nodes, inputs);
  NodeSet result;
  const auto depends_on_shapes = [&](const Apply& node, std::size_t i) {
    const Variable& input = node.inputs()[i];
    const bool is_leaf = input.owner() == nullptr || inputs.contains(input);
    if (!is_leaf) return result.contains(input.owner());
    const bool is_constant = input.value() != nullptr && !inputs.contains(input);
    return is_constant || node.op().reads_only_shape(static_cast<int>(i));
  };
  const auto stays = [&](const Variable& output) {
    return !escaping.contains(output) && !overwritten.contains(output);
  };
  for (const Ref<Apply>& node : nodes) {
    bool reads_shapes = node->op().destroy_map().empty() && node->op().foldable(*node) &&
                        device_of(*node, fallback).is_cpu() && outputs_are_few_numbers(*node);
    for (std::size_t i = 0; i < node->inputs().size() && reads_shapes; ++i)
      reads_shapes = depends_on_shapes(*node, i);
    const auto outputs = node->outputs();
    if (reads_shapes && std::ranges::all_of(outputs, stays)) result.insert(node.get());
  }
  return result;
}

}  // namespace spanwise::graph
