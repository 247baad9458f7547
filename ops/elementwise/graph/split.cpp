// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <unordered_set>
#include <utility>
#include <vector>

#include "fused_op.hpp"
#include "spanwise/graph/elementwise.hpp"
#include "spanwise/graph/rewrite.hpp"

// Before "transform_reduce": a result of a program that only a reduction reads becomes a separate
// program, which the reduction then computes while it reads the inputs.
namespace spanwise::ops {
namespace {

// Reading two arrays again costs no more than writing the result and reading it.
constexpr int max_arrays_read_again = 2;
// So few operations take less time than the access to memory.
constexpr std::size_t max_operations_done_again = 8;

bool is_only_reduced(const Apply& node, int output, const NodeSurroundings& around) {
  const auto readers = around.readers(node.output(output));
  if (readers.size() != 1 || readers[0] == nullptr) return false;
  const auto* consumer = dynamic_cast<const ElementConsumer*>(&readers[0]->op());
  return consumer != nullptr && consumer->fused_with(node.op_ref(), *readers[0]);
}

// The nodes and inputs that some outputs need.
FusedNodes part_of(const FusedNodes& all, const std::vector<int>& outputs) {
  FusedNodes part;
  std::unordered_set<Variable> needed;
  for (const int k : outputs) {
    part.outputs.push_back(all.outputs[static_cast<std::size_t>(k)]);
    needed.insert(part.outputs.back());
  }
  for (auto node = all.nodes.rbegin(); node != all.nodes.rend(); ++node) {
    if (!needed.contains((*node)->output(0))) continue;
    part.nodes.push_back(*node);
    needed.insert((*node)->inputs().begin(), (*node)->inputs().end());
  }
  std::reverse(part.nodes.begin(), part.nodes.end());
  std::copy_if(all.inputs.begin(), all.inputs.end(), std::back_inserter(part.inputs),
               [&](const Variable& input) { return needed.contains(input); });
  return part;
}

std::size_t common_nodes(const FusedNodes& a, const FusedNodes& b) {
  return static_cast<std::size_t>(
      std::count_if(a.nodes.begin(), a.nodes.end(), [&](const Ref<Apply>& node) {
        return std::find(b.nodes.begin(), b.nodes.end(), node) != b.nodes.end();
      }));
}

bool is_cheap(const FusedNodes& part, const FusedNodes& rest) {
  const auto arrays = std::count_if(part.inputs.begin(), part.inputs.end(),
                                    [](const Variable& x) { return x.type().rank() > 0; });
  return arrays <= max_arrays_read_again && common_nodes(part, rest) <= max_operations_done_again;
}

std::vector<int> all_but(std::size_t count, int k) {
  std::vector<int> others;
  for (int i = 0; i < static_cast<int>(count); ++i)
    if (i != k) others.push_back(i);
  return others;
}

// Applies the part's program to the inputs of `node`, and puts its results into `results`.
void compute_alone(const Apply& node, const FusedNodes& all, const std::vector<int>& outputs,
                   std::vector<Variable>& results) {
  const FusedNodes part = part_of(all, outputs);
  std::vector<Variable> inputs, replacements;
  for (const Variable& input : part.inputs) {
    const auto input_position = std::find(all.inputs.begin(), all.inputs.end(), input);
    inputs.push_back(node.inputs()[static_cast<std::size_t>(input_position - all.inputs.begin())]);
  }
  for (const int k : outputs) {
    const Variable old = node.output(k);
    replacements.emplace_back(old.type(), old.name());
    results[static_cast<std::size_t>(k)] = replacements.back();
  }
  Apply::make(fuse_nodes(part), std::move(inputs), std::move(replacements));
}

std::vector<Variable> split(const Apply& node, const NodeSurroundings& around) {
  const Fused* fused = fused_of(node.op());
  if (fused == nullptr || node.output_count() < 2) return {};
  const FusedNodes& all = fused->nodes;
  std::vector<int> reduced, others;
  for (int k = 0; k < node.output_count(); ++k) {
    const bool is_separated =
        is_only_reduced(node, k, around) &&
        is_cheap(part_of(all, {k}), part_of(all, all_but(all.outputs.size(), k)));
    (is_separated ? reduced : others).push_back(k);
  }
  if (reduced.empty()) return {};
  std::vector<Variable> results(all.outputs.size());
  for (const int k : reduced) compute_alone(node, all, {k}, results);
  if (!others.empty()) compute_alone(node, all, others, results);
  return results;
}

[[maybe_unused]] const bool split_registered =
    register_node_rewrite({.name = "split_for_transform_reduce",
                           .position = 64,
                           .tags = {"fast_run", "fusion", "transform_reduce"},
                           .apply_within = split});

}  // namespace
}  // namespace spanwise::ops
