// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/lazy_conditions.hpp"
#include "graph/traversal.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/core/fork.hpp"
#include "spanwise/graph/op.hpp"
#include "spanwise/graph/rewrite.hpp"

// Groups nodes for a FusionRewrite. Each node begins as a separate group. A group joins one that
// computes one of its inputs, and groups that read the same variable join each other, unless a path
// from one to the other leads through a third group.
namespace spanwise::graph {
namespace {

/// A set of numbers below a bound, one bit each.
class GroupSet {
 public:
  explicit GroupSet(std::size_t size) : words_((size + 63) / 64) {}

  bool contains(std::size_t i) const { return (words_[i / 64] >> i % 64 & 1) != 0; }
  void add(std::size_t i) { words_[i / 64] |= std::uint64_t{1} << i % 64; }
  void remove(std::size_t i) { words_[i / 64] &= ~(std::uint64_t{1} << i % 64); }
  void add(const GroupSet& other) {
    for (std::size_t k = 0; k < words_.size(); ++k) words_[k] |= other.words_[k];
  }
  /// Whether all members of `other` but `except` are members.
  bool includes(const GroupSet& other, std::size_t except) const {
    for (std::size_t k = 0; k < words_.size(); ++k) {
      std::uint64_t missing = other.words_[k] & ~words_[k];
      if (except / 64 == k) missing &= ~(std::uint64_t{1} << except % 64);
      if (missing != 0) return false;
    }
    return true;
  }
  /// Whether predicate(i) is true for a member i.
  template <class Predicate>
  bool any_of(Predicate&& predicate) const {
    for (std::size_t k = 0; k < words_.size(); ++k)
      for (std::uint64_t word = words_[k]; word != 0; word &= word - 1)
        if (predicate(64 * k + static_cast<std::size_t>(std::countr_zero(word)))) return true;
    return false;
  }
  int size() const {
    int size = 0;
    for (const std::uint64_t word : words_) size += std::popcount(word);
    return size;
  }

 private:
  std::vector<std::uint64_t> words_;
};

/// Whether values of the two types may have the same shape, and the types fix the extent 1, along
/// which a value is broadcast, on the same axes.
bool have_equal_patterns(const TensorType& a, const TensorType& b) {
  if (a.rank() != b.rank()) return false;
  for (int axis = 0; axis < a.rank(); ++axis) {
    const std::int64_t m = a.shape()[axis], n = b.shape()[axis];
    const bool is_any = m == TensorType::any || n == TensorType::any;
    if (is_any ? (m == 1 || n == 1) : m != n) return false;
  }
  return true;
}

/// The type of values of both types; extents that both fix are equal.
TensorType common_type(const TensorType& a, const TensorType& b) {
  Shape shape = a.shape();
  for (int axis = 0; axis < a.rank(); ++axis)
    if (shape[axis] == TensorType::any) shape[axis] = b.shape()[axis];
  return TensorType(a.dtype(), shape, a.device());
}

/// The types of the outputs of nodes that may be in a group.
///
/// Rewrites replace inputs by variables whose types fix more extents, and leave the type of the
/// node as it was. An extent that is 1 by the types of all inputs would then be taken for one that
/// the call determines, so the types are inferred from the inputs again.
class GroupTypes {
 public:
  explicit GroupTypes(const FusionRewrite& rewrite) : rewrite_(rewrite) {}

  /// The type of the node's output; nullopt for a node that may not be in a group. Call in
  /// topological order.
  std::optional<TensorType> of(const Apply& node) {
    if (node.output_count() != 1 || !rewrite_.accepts(node)) return std::nullopt;
    const TensorType& declared = node.output(0).type();
    if (!may_have_narrower_type(node)) return declared;
    std::vector<Variable> inputs;
    for (const Variable& input : node.inputs())
      inputs.push_back(narrower_.contains(input) ? Variable(narrower_.at(input)) : input);
    const Ref<Apply> result = try_make_node(node, inputs);
    if (!result) return declared;
    if (!rewrite_.accepts(*result)) return std::nullopt;
    TensorType type = common_type(declared, result->output(0).type());
    if (type != declared) narrower_.emplace(node.output(0), type);
    return type;
  }

 private:
  // Null where the op rejects the inputs, which is an error when the function is called.
  static Ref<Apply> try_make_node(const Apply& node, const std::vector<Variable>& inputs) {
    try {
      return node.op().make_node(inputs);
    } catch (const Error&) {
      return {};
    }
  }

  // False where each extent that the declared type leaves open is open in an input, too.
  bool may_have_narrower_type(const Apply& node) const {
    const TensorType& declared = node.output(0).type();
    if (declared.has_fixed_shape()) return false;
    const auto inputs = node.inputs();
    if (std::ranges::any_of(inputs,
                            [&](const Variable& input) { return narrower_.contains(input); }))
      return true;
    for (int from_last = 1; from_last <= declared.rank(); ++from_last) {
      if (declared.shape()[declared.rank() - from_last] != TensorType::any) continue;
      const bool is_open = std::ranges::any_of(inputs, [&](const Variable& input) {
        const Shape& shape = input.type().shape();
        return shape.size() >= from_last && shape[shape.size() - from_last] == TensorType::any;
      });
      if (!is_open) return true;
    }
    return false;
  }

  const FusionRewrite& rewrite_;
  std::unordered_map<Variable, TensorType> narrower_;  // where it is narrower than the declared one
};

// The nodes are grouped in parts of this many, in topological order: the time for one part grows
// with the square of its nodes, and the text of a program with a long chain is deeply nested. A
// path between two nodes of a part does not leave it.
constexpr std::size_t max_nodes = 1 << 11;

/// Nodes that become one.
struct FusionGroup {
  std::vector<std::size_t> nodes;  ///< positions; empty after the group joined another
  bool is_open = false;            ///< may grow
  GroupSet dependencies;           ///< the groups that it depends on, directly or not
  std::vector<Variable> inputs;    ///< of an open group: each once
  std::optional<TensorType> type;  ///< of an open group: of all its outputs, as far as any is known
  std::size_t outputs = 0;         ///< of an open group: variables that are read outside
  int condition = LazyConditions::always;  ///< under which its nodes are needed
};

class FusionPass {
 public:
  FusionPass(const FusionRewrite& rewrite, RewriteGraph& graph)
      : rewrite_(rewrite), graph_(graph), types_(rewrite) {}

  int run() {
    std::vector<Ref<Apply>> all = nodes_for(graph_.outputs, graph_.inputs);
    all = reorder(all, sequences(all));
    for (const Ref<Apply>& node : all)
      for (const Variable& input : distinct(node->inputs())) readers_[input].push_back(node.get());
    for (const Variable& output : graph_.outputs) readers_[output].push_back(nullptr);
    conditions_ = conditions_of(all, graph_.outputs);
    int changes = 0;
    for (std::size_t first = 0; first < all.size(); first += max_nodes) {
      const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first);
      const std::size_t count = std::min(max_nodes, all.size() - first);
      nodes_.assign(begin, begin + static_cast<std::ptrdiff_t>(count));
      groups_.clear();
      group_of_.clear();
      producers_.clear();
      make_groups();
      join_producers();
      join_siblings();
      changes += rebuild();
    }
    graph_.outputs = rebuild_.current(graph_.outputs);
    return changes;
  }

 private:
  void make_groups() {
    // A group must not make a node of a sequence depend on a later one.
    std::vector<std::size_t> predecessors(nodes_.size(), nodes_.size());
    for (const auto& [first, then] : sequences(nodes_))
      predecessors[static_cast<std::size_t>(then)] = static_cast<std::size_t>(first);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const Apply& node = *nodes_[i];
      for (const Variable& output : node.outputs()) producers_.emplace(output, i);
      std::optional<TensorType> type = types_.of(node);
      const bool is_open = type.has_value();
      FusionGroup group{
          {i}, is_open, GroupSet(nodes_.size()), distinct(node.inputs()), std::move(type)};
      for (const Variable& input : group.inputs)
        if (const auto producer = producers_.find(input); producer != producers_.end()) {
          group.dependencies.add(producer->second);
          group.dependencies.add(groups_[producer->second].dependencies);
        }
      if (predecessors[i] < i) {
        group.dependencies.add(predecessors[i]);
        group.dependencies.add(groups_[predecessors[i]].dependencies);
      }
      if (group.is_open) group.outputs = readers_.contains(node.output(0)) ? 1 : 0;
      if (!conditions_.empty()) group.condition = conditions_.at(&node);
      groups_.push_back(std::move(group));
      group_of_.push_back(i);
    }
  }

  void join_producers() {
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      for (const Variable& input : nodes_[i]->inputs())
        if (const auto producer = group_of(input)) try_join(*producer, group_of_[i]);
  }

  void join_siblings() {
    for (const auto& [variable, first] : first_readers())
      for (const Apply* reader : readers_.at(variable))
        if (reader != nullptr && reader->output_count() > 0)
          if (const auto group = group_of(reader->output(0))) try_join(group_of_[first], *group);
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

  // Makes one group of two, if that is possible.
  void try_join(std::size_t a, std::size_t b) {
    if (a == b || !groups_[a].is_open || !groups_[b].is_open) return;
    if (groups_[a].nodes.size() < groups_[b].nodes.size()) std::swap(a, b);
    FusionGroup &into = groups_[a], &from = groups_[b];
    if (into.condition != from.condition) return;  // one of the two may not be needed
    const TensorType &type = *into.type, &other_type = *from.type;
    if (device_of(type) != device_of(other_type) || !have_equal_patterns(type, other_type)) return;
    if (depends_indirectly(into, b) || depends_indirectly(from, a)) return;
    std::vector<Variable> inputs = inputs_of_both(a, b);
    const std::size_t outputs =
        into.outputs + from.outputs - count_internal(into, b, a) - count_internal(from, a, b);
    if (inputs.size() > rewrite_.max_inputs || outputs > rewrite_.max_outputs) return;
    into.inputs = std::move(inputs);
    into.outputs = outputs;
    into.type = common_type(type, other_type);
    join(a, b);
  }

  void join(std::size_t a, std::size_t b) {
    FusionGroup &into = groups_[a], &from = groups_[b];
    into.nodes.insert(into.nodes.end(), from.nodes.begin(), from.nodes.end());
    for (const std::size_t node : from.nodes) group_of_[node] = a;
    // A group that depends on one of the two now has the dependencies of the other, too.
    const bool a_has_all = into.dependencies.includes(from.dependencies, a);
    const bool b_has_all = from.dependencies.includes(into.dependencies, b);
    into.dependencies.add(from.dependencies);
    into.dependencies.remove(a);
    into.dependencies.remove(b);
    from.nodes.clear();
    from.is_open = false;
    for (FusionGroup& other : groups_) {
      const bool has_a = other.dependencies.contains(a), has_b = other.dependencies.contains(b);
      if (other.nodes.empty() || !(has_a || has_b)) continue;
      other.dependencies.remove(b);
      other.dependencies.add(a);
      if (!(has_a && a_has_all) && !(has_b && b_has_all)) other.dependencies.add(into.dependencies);
    }
  }

  // The group that computes the variable; nullopt for a variable from outside of the part.
  std::optional<std::size_t> group_of(const Variable& variable) const {
    const auto producer = producers_.find(variable);
    return producer == producers_.end() ? std::nullopt : std::optional(group_of_[producer->second]);
  }

  std::vector<Variable> inputs_of_both(std::size_t a, std::size_t b) const {
    std::vector<Variable> inputs;
    for (const std::size_t group : {a, b})
      for (const Variable& input : groups_[group].inputs) {
        const std::optional<std::size_t> from = group_of(input);
        if (from != a && from != b && std::ranges::find(inputs, input) == inputs.end())
          inputs.push_back(input);
      }
    return inputs;
  }

  // The number of inputs of `reader`, which is group `own`, that group `producer` computes and that
  // no node outside of the two groups reads.
  std::size_t count_internal(const FusionGroup& reader, std::size_t producer,
                             std::size_t own) const {
    std::size_t count = 0;
    for (const Variable& input : reader.inputs) {
      if (group_of(input) != producer) continue;
      const auto& readers = readers_.at(input);
      count += std::ranges::all_of(readers, [&](const Apply* node) {
        if (node == nullptr || node->output_count() == 0) return false;
        const std::optional<std::size_t> group = group_of(node->output(0));
        return group == producer || group == own;
      });
    }
    return count;
  }

  Device device_of(const TensorType& type) const { return type.device().value_or(graph_.device); }

  // Whether `group` depends on group `target` through a third group.
  bool depends_indirectly(const FusionGroup& group, std::size_t target) const {
    return group.dependencies.contains(target) && group.dependencies.any_of([&](std::size_t third) {
      return third != target && groups_[third].dependencies.contains(target);
    });
  }

  std::vector<Variable> outputs_of(const FusionGroup& group) const {
    const std::size_t own = group_of_[group.nodes[0]];
    std::vector<Variable> outputs;
    for (const std::size_t i : group.nodes) {
      const Variable output = nodes_[i]->output(0);
      const auto readers = readers_.find(output);
      if (readers == readers_.end()) continue;
      if (std::ranges::any_of(readers->second, [&](const Apply* reader) {
            return reader == nullptr || reader->output_count() == 0 ||
                   group_of(reader->output(0)) != own;
          }))
        outputs.push_back(output);
    }
    return outputs;
  }

  // The groups in topological order: a group has more dependencies than each group it depends on.
  std::vector<std::size_t> order() const {
    std::vector<std::pair<int, std::size_t>> keys;
    for (std::size_t i = 0; i < groups_.size(); ++i)
      if (!groups_[i].nodes.empty()) keys.emplace_back(groups_[i].dependencies.size(), i);
    std::ranges::sort(keys);
    std::vector<std::size_t> ordered;
    for (const auto& [count, group] : keys) ordered.push_back(group);
    return ordered;
  }

  int rebuild() {
    int changes = 0;
    for (const std::size_t g : order()) {
      FusionGroup& group = groups_[g];
      std::ranges::sort(group.nodes);
      if (group.nodes.size() == 1) {
        rebuild_.visit_as_is(*nodes_[group.nodes[0]]);
        continue;
      }
      replace(group);
      ++changes;
    }
    return changes;
  }

  void replace(const FusionGroup& group) {
    std::vector<Ref<Apply>> members;
    for (const std::size_t i : group.nodes) members.push_back(nodes_[i]);
    const std::vector<Variable>& inputs = group.inputs;
    const std::vector<Variable> outputs = outputs_of(group);
    std::vector<Variable> result;
    for (const Variable& output : outputs) result.emplace_back(output.type(), output.name());
    const Ref<Apply> node =
        Apply::make(rewrite_.fuse(members, inputs, outputs), rebuild_.current(inputs), result);
    node->set_trace(members.back()->trace());
    for (std::size_t i = 0; i < outputs.size(); ++i) rebuild_.replace(outputs[i], result[i]);
  }

  const FusionRewrite& rewrite_;
  RewriteGraph& graph_;
  GroupTypes types_;
  Rebuild rebuild_;
  std::unordered_map<Variable, std::vector<const Apply*>> readers_;  // null: a function output
  std::unordered_map<const Apply*, int> conditions_;                 // empty without lazy ops
  // Of the part in work: positions are those of nodes_.
  std::vector<Ref<Apply>> nodes_;
  std::vector<FusionGroup> groups_;
  std::vector<std::size_t> group_of_;                    // of each node
  std::unordered_map<Variable, std::size_t> producers_;  // positions
};

}  // namespace

}  // namespace spanwise::graph

namespace spanwise {
namespace {

using NodePredicate = std::function<bool(const Apply& node)>;

// FusionRewrite::accepts of all registered rewrites. Created at the first use, which is in a static
// initialiser.
std::vector<NodePredicate>& fusion_predicates() {
  static NeverDestroyed<std::vector<NodePredicate>> all;
  return *all;
}

}  // namespace

bool is_fusible(const Apply& node) {
  return std::ranges::any_of(fusion_predicates(),
                             [&](const NodePredicate& accepts) { return accepts(node); });
}

bool register_fusion_rewrite(FusionRewrite rewrite) {
  fusion_predicates().push_back(rewrite.accepts);
  return register_rewrite({.name = rewrite.name,
                           .position = rewrite.position,
                           .tags = rewrite.tags,
                           .apply = [rewrite = std::move(rewrite)](RewriteGraph& graph) {
                             return graph::FusionPass(rewrite, graph).run();
                           }});
}

}  // namespace spanwise
