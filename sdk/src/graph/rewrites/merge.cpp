// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <string_view>
#include <utility>

#include "graph/compile/aliases.hpp"
#include "graph/order.hpp"
#include "graph/rebuild.hpp"
#include "spanwise/graph/op.hpp"
#include "spanwise/graph/rewrite.hpp"

// Merges nodes with equal ops and inputs, and equal constants (common subexpression elimination).
namespace spanwise::graph {
namespace {

// The formula of boost::hash_combine.
std::size_t combined_hash(std::size_t seed, std::size_t value) {
  return seed ^ (value + 0x9e3779b97f4a7c15u + (seed << 6) + (seed >> 2));
}

// Larger constants are rarely equal and slow to compare.
constexpr std::int64_t max_constant_bytes = 4096;

bool is_comparable(const Variable& variable) {
  const Array* value = variable.value();
  return value != nullptr && value->device().is_cpu() && value->layout().is_row_major() &&
         value->nbytes() <= max_constant_bytes;
}

std::string_view bytes_of(const Array& value) {
  if (value.nbytes() == 0) return {};
  return {static_cast<const char*>(value.data()), static_cast<std::size_t>(value.nbytes())};
}

class Merge {
 public:
  explicit Merge(const RewriteGraph& graph)
      : nodes_(nodes_for(graph.outputs, graph.inputs)), inputs_(graph.inputs) {
    find_overwritten();
  }

  int run(RewriteGraph& graph) {
    int changes = 0;
    for (const Ref<Apply>& node : nodes_) {
      if (graph.is_late()) break;
      changes += merge_node(*node) ? 1 : 0;
    }
    graph.outputs = rebuild_.current(graph.outputs);
    return changes;
  }

 private:
  void find_overwritten() {
    for (const Ref<Apply>& node : nodes_)
      for (const std::size_t input : overwritten_inputs(*node))
        for (const Variable& root : viewed(node->inputs()[input], inputs_))
          overwritten_.insert(root);
  }

  void merge_constant(const Variable& variable) {
    if (!is_comparable(variable) || !(rebuild_.current(variable) == variable)) return;
    const Array& value = *variable.value();
    const std::size_t key = std::hash<std::string_view>()(bytes_of(value));
    const auto [first, last] = constants_.equal_range(key);
    for (auto other = first; other != last; ++other) {
      if (other->second == variable) return;
      const bool is_equal = other->second.type() == variable.type() &&
                            other->second.value()->shape() == value.shape() &&
                            bytes_of(*other->second.value()) == bytes_of(value);
      if (is_equal) return rebuild_.replace(variable, other->second);
    }
    constants_.emplace(key, variable);
  }

  bool merge_node(const Apply& node) {
    for (const Variable& input : node.inputs()) merge_constant(input);
    std::vector<Variable> inputs = rebuild_.current(node.inputs());
    std::size_t key = node.op().hash();
    for (const Variable& input : inputs) key = combined_hash(key, std::hash<Variable>()(input));
    if (!is_overwritten(node)) {
      const auto [first, last] = visited_.equal_range(key);
      for (auto other = first; other != last; ++other) {
        if (!computes_the_same(*other->second, node, inputs)) continue;
        for (int i = 0; i < node.output_count(); ++i)
          rebuild_.replace(node.output(i), rebuild_.current(other->second->output(i)));
        return true;
      }
      visited_.emplace(key, &node);
    }
    rebuild_.visit_as_is(node, std::move(inputs));
    return false;
  }

  bool is_overwritten(const Apply& node) const {
    if (overwritten_.empty()) return false;
    for (const Variable& output : node.outputs())
      for (const Variable& root : viewed(output, inputs_))
        if (overwritten_.contains(root)) return true;
    return false;
  }

  // Whether node `a` computes the same as `node` with the rebuilt inputs `inputs`.
  bool computes_the_same(const Apply& a, const Apply& node,
                         const std::vector<Variable>& inputs) const {
    if (a.inputs().size() != inputs.size() || a.output_count() != node.output_count()) return false;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (!(rebuild_.current(a.inputs()[i]) == inputs[i])) return false;
    for (int i = 0; i < a.output_count(); ++i)
      if (!(a.output(i).type() == node.output(i).type())) return false;
    return &a.op() == &node.op() || a.op().equals(node.op());
  }

  std::vector<Ref<Apply>> nodes_;
  const VariableSet& inputs_;
  // Variables whose memory a node overwrites; such values must not be merged.
  VariableSet overwritten_;
  Rebuild rebuild_;
  std::unordered_multimap<std::size_t, const Apply*> visited_;  // by hash of op and inputs
  std::unordered_multimap<std::size_t, Variable> constants_;    // by hash of their bytes
};

int merge(RewriteGraph& graph) { return Merge(graph).run(graph); }

[[maybe_unused]] const bool merge_registered =
    register_rewrite(
        {.name = "merge", .position = 10, .tags = {"fast_run", "fast_compile"}, .apply = merge}) &&
    register_rewrite(
        {.name = "merge_again", .position = 40, .tags = {"fast_run", "merge"}, .apply = merge});

}  // namespace
}  // namespace spanwise::graph
