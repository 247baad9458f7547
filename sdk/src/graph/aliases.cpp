// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/aliases.hpp"

#include <algorithm>
#include <unordered_map>

#include "graph/copy_op.hpp"
#include "graph/rebuild.hpp"
#include "spanwise/error.hpp"
#include "spanwise/graph/op.hpp"

namespace spanwise::graph {
namespace {

enum class Through { views, views_and_overwriting };

// The input that the output of `map`'s op stands on, or nothing.
Variable aliased(const Variable& output, const AliasMap& map) {
  const auto entry = map.find(output.index());
  if (entry == map.end() || entry->second.empty()) return {};
  const auto inputs = output.owner()->inputs();
  const auto input = static_cast<std::size_t>(entry->second.front());
  if (input >= inputs.size())
    fail<GraphError>(output.owner()->label(), ": output ", output.index(),
                     " is declared to share memory with input ", entry->second.front(), " of ",
                     inputs.size());
  return inputs[input];
}

Variable next_towards_buffer(const Variable& variable, const VariableSet& boundary,
                             Through through) {
  if (variable.owner() == nullptr || boundary.contains(variable)) return {};
  const Op& op = variable.owner()->op();
  Variable next = aliased(variable, op.view_map());
  if (!next && through == Through::views_and_overwriting)
    next = aliased(variable, op.destroy_map());
  return next;
}

Variable follow(Variable variable, const VariableSet& boundary, Through through) {
  while (Variable next = next_towards_buffer(variable, boundary, through))
    variable = std::move(next);
  return variable;
}

bool is_readonly(Variable variable, const VariableSet& boundary) {
  for (; variable && variable.owner() != nullptr && !boundary.contains(variable);
       variable = next_towards_buffer(variable, boundary, Through::views))
    if (variable.owner()->op().gives_readonly()) return true;
  return false;
}

bool overwrites_anything(const std::vector<Ref<Apply>>& nodes) {
  return std::any_of(nodes.begin(), nodes.end(),
                     [](const Ref<Apply>& node) { return !node->op().destroy_map().empty(); });
}

// The positions of the inputs that `node` overwrites.
std::vector<std::size_t> overwritten(const Apply& node) {
  std::vector<std::size_t> positions;
  for (const auto& [output, inputs] : node.op().destroy_map()) {
    for (const int input : inputs) {
      if (input < 0 || static_cast<std::size_t>(input) >= node.inputs().size())
        fail<GraphError>(node.label(), ": destroy_map names input ", input, " of ",
                         node.inputs().size());
      positions.push_back(static_cast<std::size_t>(input));
    }
  }
  return positions;
}

// Whether another input of `node` has the memory of input `i`, so that the node would overwrite
// what it has yet to read.
bool reads_what_it_overwrites(const Apply& node, std::span<const Variable> inputs, std::size_t i,
                              const VariableSet& boundary) {
  const Variable root = viewed(inputs[i], boundary);
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    if (k == i || viewed(inputs[k], boundary) != root) continue;
    if (inputs[k] != inputs[i] || !node.op().may_overwrite_twin()) return true;
  }
  return false;
}

}  // namespace

Variable viewed(const Variable& variable, const VariableSet& boundary) {
  return follow(variable, boundary, Through::views);
}

Variable buffer_of(const Variable& variable, const VariableSet& boundary) {
  return follow(variable, boundary, Through::views_and_overwriting);
}

Variable stands_on(const Variable& variable, const VariableSet& boundary) {
  return next_towards_buffer(variable, boundary, Through::views_and_overwriting);
}

std::vector<Variable> protect(std::span<const Variable> outputs, const VariableSet& inputs,
                              const VariableSet& mutable_inputs) {
  const std::vector<Ref<Apply>> nodes = nodes_for(outputs, inputs);
  if (!overwrites_anything(nodes)) return {outputs.begin(), outputs.end()};
  VariableSet results;
  for (const Variable& output : outputs) results.insert(viewed(output, inputs));
  Rebuild rebuild;
  for (const Ref<Apply>& node : nodes) {
    std::vector<Variable> current = rebuild.now(node->inputs());
    for (const std::size_t i : overwritten(*node)) {
      const Variable source = viewed(node->inputs()[i], inputs);
      const bool is_leaf = (source.owner() == nullptr || inputs.contains(source)) &&
                           !mutable_inputs.contains(source);
      const bool is_kept = is_leaf || results.contains(source);
      if (is_kept || is_readonly(node->inputs()[i], inputs) ||
          reads_what_it_overwrites(*node, current, i, inputs))
        current[i] = copied(current[i]);
    }
    rebuild.visit(*node, std::move(current));
  }
  return rebuild.now(outputs);
}

std::vector<Before> readers_first(const std::vector<Ref<Apply>>& nodes, const VariableSet& inputs) {
  if (!overwrites_anything(nodes)) return {};
  std::unordered_map<Variable, std::vector<int>> readers;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    for (const Variable& input : nodes[i]->inputs())
      readers[viewed(input, inputs)].push_back(static_cast<int>(i));
  std::vector<Before> edges;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const std::size_t input : overwritten(*nodes[i]))
      for (const int reader : readers[viewed(nodes[i]->inputs()[input], inputs)])
        if (reader != static_cast<int>(i)) edges.emplace_back(reader, static_cast<int>(i));
  }
  return edges;
}

}  // namespace spanwise::graph
