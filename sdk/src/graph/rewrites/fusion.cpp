// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

#include "graph/order.hpp"
#include "graph/rebuild.hpp"
#include "spanwise/graph/op.hpp"
#include "spanwise/graph/rewrite.hpp"

// Groups nodes for a FusionRewrite. Each node begins as a group of its own; a node joins a group
// that computes one of its inputs, and groups that read the same variable join each other, wherever
// no other node lies between them.
namespace spanwise::graph {
namespace {

// The sets of dependencies take a bit for each pair of nodes.
constexpr std::size_t most_nodes = 1 << 14;

/// A set of groups.
class GroupSet {
 public:
  explicit GroupSet(std::size_t size) : words_((size + 63) / 64) {}

  bool contains(std::size_t i) const { return (words_[i / 64] >> i % 64 & 1) != 0; }
  void add(std::size_t i) { words_[i / 64] |= std::uint64_t{1} << i % 64; }
  void remove(std::size_t i) { words_[i / 64] &= ~(std::uint64_t{1} << i % 64); }
  void add(const GroupSet& other) {
    for (std::size_t k = 0; k < words_.size(); ++k) words_[k] |= other.words_[k];
  }
  int size() const {
    int size = 0;
    for (const std::uint64_t word : words_) size += std::popcount(word);
    return size;
  }

 private:
  std::vector<std::uint64_t> words_;
};

/// Nodes that become one.
struct Group {
  std::vector<std::size_t> nodes;  ///< in topological order; empty after the group joined another
  bool is_open = false;            ///< may grow
  GroupSet after;                  ///< the groups that it depends on
};

bool have_equal_patterns(const TensorType& a, const TensorType& b) {
  if (a.rank() != b.rank()) return false;
  for (int axis = 0; axis < a.rank(); ++axis) {
    const std::int64_t m = a.shape()[axis], n = b.shape()[axis];
    const bool is_any = m == TensorType::any || n == TensorType::any;
    if (is_any ? (m == 1 || n == 1) : m != n) return false;
  }
  return true;
}

class FusionPass {
 public:
  FusionPass(const FusionRewrite& rewrite, RewriteGraph& graph)
      : rewrite_(rewrite), graph_(graph), nodes_(nodes_for(graph.outputs, graph.inputs)) {}

  int run() {
    if (nodes_.size() > most_nodes) return 0;
    make_groups();
    join_producers();
    join_siblings();
    return rebuild();
  }

 private:
  void make_groups() {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const Apply& node = *nodes_[i];
      for (const Variable& output : node.outputs()) producers_.emplace(output, i);
      Group group{{i}, node.output_count() == 1 && rewrite_.accepts(node), GroupSet(nodes_.size())};
      for (const Variable& input : node.inputs())
        if (const auto producer = producers_.find(input); producer != producers_.end()) {
          group.after.add(producer->second);
          group.after.add(groups_[producer->second].after);
        }
      groups_.push_back(std::move(group));
      group_of_.push_back(i);
    }
    for (const Ref<Apply>& node : nodes_)
      for (const Variable& input : node->inputs()) readers_[input].push_back(node.get());
    for (const Variable& output : graph_.outputs) readers_[output].push_back(nullptr);
  }

  void join_producers() {
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      for (const Variable& input : nodes_[i]->inputs())
        if (const auto producer = producers_.find(input); producer != producers_.end())
          try_join(group_of_[producer->second], group_of_[i]);
  }

  void join_siblings() {
    for (const auto& [variable, first] : std::vector(first_readers())) {
      for (const Apply* reader : readers_.at(variable))
        if (reader != nullptr)
          try_join(group_of_[first], group_of_[producers_.at(reader->output(0))]);
    }
  }

  // {variable that several nodes read, position of the first of them}, in the order of the nodes.
  std::vector<std::pair<Variable, std::size_t>> first_readers() const {
    std::vector<std::pair<Variable, std::size_t>> all;
    VariableSet seen;
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      for (const Variable& input : nodes_[i]->inputs())
        if (input.type().rank() > 0 && seen.insert(input).second && readers_.at(input).size() > 1 &&
            nodes_[i]->output_count() == 1)
          all.emplace_back(input, i);
    return all;
  }

  // Joins `b` to `a`.
  void try_join(std::size_t a, std::size_t b) {
    Group &into = groups_[a], &from = groups_[b];
    if (a == b || !into.is_open || !from.is_open) return;
    const TensorType &type = type_of(into), &other_type = type_of(from);
    if (device_of(type) != device_of(other_type) || !have_equal_patterns(type, other_type)) return;
    if (lies_between(into, b) || lies_between(from, a) || !fits(into, from)) return;
    const std::size_t middle = into.nodes.size();
    into.nodes.insert(into.nodes.end(), from.nodes.begin(), from.nodes.end());
    std::inplace_merge(into.nodes.begin(), into.nodes.begin() + static_cast<std::ptrdiff_t>(middle),
                       into.nodes.end());
    for (const std::size_t node : from.nodes) group_of_[node] = a;
    into.after.add(from.after);
    into.after.remove(a);
    into.after.remove(b);
    from.nodes.clear();
    from.is_open = false;
    for (Group& other : groups_) {
      if (other.nodes.empty() || !(other.after.contains(a) || other.after.contains(b))) continue;
      other.after.remove(b);
      other.after.add(a);
      other.after.add(into.after);
    }
  }

  const TensorType& type_of(const Group& group) const {
    return nodes_[group.nodes.back()]->output(0).type();
  }

  Device device_of(const TensorType& type) const { return type.device().value_or(graph_.device); }

  // Whether `group` depends on group `before` through another group.
  bool lies_between(const Group& group, std::size_t before) const {
    if (!group.after.contains(before)) return false;
    for (std::size_t i = 0; i < groups_.size(); ++i)
      if (i != before && group.after.contains(i) && groups_[i].after.contains(before)) return true;
    return false;
  }

  bool fits(const Group& a, const Group& b) const {
    std::vector<std::size_t> nodes = a.nodes;
    nodes.insert(nodes.end(), b.nodes.begin(), b.nodes.end());
    std::sort(nodes.begin(), nodes.end());
    return inputs_of(nodes).size() <= rewrite_.most_inputs &&
           outputs_of(nodes).size() <= rewrite_.most_outputs;
  }

  bool is_in(const Apply* node, const std::vector<std::size_t>& nodes) const {
    if (node == nullptr || node->output_count() == 0) return false;
    const auto position = producers_.find(node->output(0));
    return position != producers_.end() &&
           std::binary_search(nodes.begin(), nodes.end(), position->second);
  }

  std::vector<Variable> inputs_of(const std::vector<std::size_t>& nodes) const {
    std::vector<Variable> inputs;
    for (const std::size_t i : nodes)
      for (const Variable& input : nodes_[i]->inputs()) {
        const auto producer = producers_.find(input);
        const bool is_inside = producer != producers_.end() &&
                               std::binary_search(nodes.begin(), nodes.end(), producer->second);
        if (!is_inside && std::find(inputs.begin(), inputs.end(), input) == inputs.end())
          inputs.push_back(input);
      }
    return inputs;
  }

  std::vector<Variable> outputs_of(const std::vector<std::size_t>& nodes) const {
    std::vector<Variable> outputs;
    for (const std::size_t i : nodes) {
      const Variable output = nodes_[i]->output(0);
      const auto readers = readers_.find(output);
      if (readers == readers_.end()) continue;
      if (std::any_of(readers->second.begin(), readers->second.end(),
                      [&](const Apply* reader) { return !is_in(reader, nodes); }))
        outputs.push_back(output);
    }
    return outputs;
  }

  // A group comes after all that it depends on.
  std::vector<std::size_t> order() const {
    std::vector<std::pair<int, std::size_t>> keys;
    for (std::size_t i = 0; i < groups_.size(); ++i)
      if (!groups_[i].nodes.empty()) keys.emplace_back(groups_[i].after.size(), i);
    std::sort(keys.begin(), keys.end());
    std::vector<std::size_t> ordered;
    for (const auto& [count, group] : keys) ordered.push_back(group);
    return ordered;
  }

  int rebuild() {
    Rebuild rebuild;
    int changes = 0;
    for (const std::size_t g : order()) {
      const Group& group = groups_[g];
      if (group.nodes.size() == 1) {
        rebuild.visit_as_is(*nodes_[group.nodes[0]]);
        continue;
      }
      replace(group, rebuild);
      ++changes;
    }
    graph_.outputs = rebuild.now(graph_.outputs);
    return changes;
  }

  void replace(const Group& group, Rebuild& rebuild) const {
    std::vector<Ref<Apply>> members;
    for (const std::size_t i : group.nodes) members.push_back(nodes_[i]);
    const std::vector<Variable> inputs = inputs_of(group.nodes), outputs = outputs_of(group.nodes);
    std::vector<Variable> made;
    for (const Variable& output : outputs) made.emplace_back(output.type(), output.name());
    const Ref<Apply> node =
        Apply::make(rewrite_.fuse(members, inputs, outputs), rebuild.now(inputs), made);
    node->set_trace(members.back()->trace());
    for (std::size_t i = 0; i < outputs.size(); ++i) rebuild.replace(outputs[i], made[i]);
  }

  const FusionRewrite& rewrite_;
  RewriteGraph& graph_;
  std::vector<Ref<Apply>> nodes_;
  std::vector<Group> groups_;
  std::vector<std::size_t> group_of_;                                // of each node
  std::unordered_map<Variable, std::size_t> producers_;              // positions
  std::unordered_map<Variable, std::vector<const Apply*>> readers_;  // null: a function output
};

}  // namespace
}  // namespace spanwise::graph

namespace spanwise {

bool register_fusion_rewrite(FusionRewrite rewrite) {
  std::string name = rewrite.name;
  const double position = rewrite.position;
  std::vector<std::string> tags = rewrite.tags;
  return register_rewrite({.name = std::move(name),
                           .position = position,
                           .tags = std::move(tags),
                           .apply = [rewrite = std::move(rewrite)](RewriteGraph& graph) {
                             return graph::FusionPass(rewrite, graph).run();
                           }});
}

}  // namespace spanwise
