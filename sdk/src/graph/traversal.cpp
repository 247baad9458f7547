// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "graph/traversal.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/graph/op.hpp"

namespace spanwise::graph {
namespace {

struct Visit {
  Apply* node;
  std::size_t next_input = 0;
};

// Per node: the positions of the nodes that must run after it, and the number of nodes that must
// still run before it.
struct DependencyGraph {
  std::vector<std::vector<int>> successors;
  std::vector<int> pending;

  void add(int first, int then) {
    successors[static_cast<std::size_t>(first)].push_back(then);
    ++pending[static_cast<std::size_t>(then)];
  }
};

DependencyGraph dependency_graph(const std::vector<Ref<Apply>>& nodes,
                                 const std::vector<OrderEdge>& edges) {
  std::unordered_map<const Apply*, int> position;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    position.emplace(nodes[i].get(), static_cast<int>(i));
  DependencyGraph graph{std::vector<std::vector<int>>(nodes.size()),
                        std::vector<int>(nodes.size(), 0)};
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const Variable& input : nodes[i]->inputs()) {
      const auto owner = position.find(input.owner());
      if (owner != position.end()) graph.add(owner->second, static_cast<int>(i));
    }
  }
  for (const auto& [first, then] : edges) graph.add(first, then);
  return graph;
}

[[noreturn]] void fail_cycle(const std::vector<Ref<Apply>>& nodes,
                             const std::vector<OrderEdge>& edges, const DependencyGraph& graph) {
  for (const auto& [first, then] : edges) {
    if (graph.pending[static_cast<std::size_t>(first)] == 0) continue;
    const Apply& later = *nodes[static_cast<std::size_t>(then)];
    if (dynamic_cast<const SequencedOp*>(&later.op()) != nullptr)
      fail<GraphError>("function: ", nodes[static_cast<std::size_t>(first)]->label(),
                       " depends on a later node of its sequence, ", later.label(),
                       "; make the nodes in the order in which they run");
    fail<GraphError>("function: ", later.label(), " overwrites memory that ",
                     nodes[static_cast<std::size_t>(first)]->label(),
                     " still reads, but has to run before it; use the op without destroy_map "
                     "there, or pass a copy to one of the two");
  }
  fail<GraphError>("function: the graph has a cycle");
}

}  // namespace

std::vector<Variable> distinct(std::span<const Variable> variables) {
  constexpr std::size_t max_searched = 16;  // a set is faster for more
  std::vector<Variable> all;
  VariableSet seen;
  for (const Variable& variable : variables) {
    const bool is_few = variables.size() <= max_searched;
    if (is_few ? std::ranges::find(all, variable) == all.end() : seen.insert(variable).second)
      all.push_back(variable);
  }
  return all;
}

std::vector<Ref<Apply>> nodes_for(std::span<const Variable> outputs, const VariableSet& boundary) {
  std::vector<Ref<Apply>> done;
  std::unordered_set<const Apply*> seen;
  std::vector<Visit> path;
  const auto enter = [&](const Variable& variable) {
    Apply* owner = boundary.contains(variable) ? nullptr : variable.owner();
    if (owner != nullptr && seen.insert(owner).second) path.push_back({owner});
  };
  for (const Variable& output : outputs) {
    enter(output);
    while (!path.empty()) {
      Visit& visit = path.back();
      if (visit.next_input < visit.node->inputs().size()) {
        enter(visit.node->inputs()[visit.next_input++]);
      } else {
        done.emplace_back(visit.node);
        path.pop_back();
      }
    }
  }
  return done;
}

std::vector<OrderEdge> sequences(const std::vector<Ref<Apply>>& nodes) {
  using Member = std::pair<std::int64_t, int>;  // position in the sequence, in `nodes`
  std::map<std::string_view, std::vector<Member>> all;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (const auto* op = dynamic_cast<const SequencedOp*>(&nodes[i]->op()))
      all[op->sequence()].emplace_back(op->position(), static_cast<int>(i));
  std::vector<OrderEdge> edges;
  for (auto& [name, members] : all) {
    std::ranges::sort(members);
    for (std::size_t i = 1; i < members.size(); ++i)
      edges.emplace_back(members[i - 1].second, members[i].second);
  }
  return edges;
}

std::vector<Ref<Apply>> reorder(const std::vector<Ref<Apply>>& nodes,
                                const std::vector<OrderEdge>& edges) {
  if (edges.empty()) return nodes;
  DependencyGraph graph = dependency_graph(nodes, edges);
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (graph.pending[i] == 0) ready.push(static_cast<int>(i));
  std::vector<Ref<Apply>> order;
  order.reserve(nodes.size());
  while (!ready.empty()) {
    const auto position = static_cast<std::size_t>(ready.top());
    ready.pop();
    order.push_back(nodes[position]);
    for (const int then : graph.successors[position])
      if (--graph.pending[static_cast<std::size_t>(then)] == 0) ready.push(then);
  }
  if (order.size() != nodes.size()) fail_cycle(nodes, edges, graph);
  return order;
}

namespace {

bool same_types(std::span<const Variable> a, std::span<const Variable> b) {
  return std::ranges::equal(
      a, b, [](const Variable& x, const Variable& y) { return x.type() == y.type(); });
}

std::vector<Variable> new_variables_like(const std::vector<Variable>& variables) {
  std::vector<Variable> result;
  result.reserve(variables.size());
  for (const Variable& variable : variables) result.emplace_back(variable.type(), variable.name());
  return result;
}

// A node of the same op with other inputs. Equal input types give equal output types, so make_node
// is only called for other types.
Ref<Apply> with_inputs(const Apply& node, std::vector<Variable> inputs) {
  if (same_types(inputs, node.inputs()))
    return Apply::make(node.op_ref(), std::move(inputs), new_variables_like(node.outputs()));
  const Ref<Apply> result = node.op().make_node(inputs);
  if (!result || result->output_count() != node.output_count())
    fail<GraphError>(node.label(), ": make_node gave another number of outputs for other inputs");
  for (int i = 0; i < node.output_count(); ++i) result->output(i).set_name(node.output(i).name());
  return result;
}

}  // namespace

const Variable& Rebuild::current(const Variable& variable) const {
  const auto entry = replacements_.find(variable);
  return entry == replacements_.end() ? variable : entry->second;
}

std::vector<Variable> Rebuild::current(std::span<const Variable> variables) const {
  std::vector<Variable> result;
  result.reserve(variables.size());
  for (const Variable& variable : variables) result.push_back(current(variable));
  return result;
}

void Rebuild::visit(const Apply& node, std::vector<Variable> inputs) {
  if (std::ranges::equal(inputs, node.inputs())) return;
  replace_outputs(node, with_inputs(node, std::move(inputs)));
}

void Rebuild::visit_as_is(const Apply& node, std::vector<Variable> inputs) {
  if (std::ranges::equal(inputs, node.inputs())) return;
  visit_with(node, node.op_ref(), std::move(inputs));
}

void Rebuild::visit_with(const Apply& node, const Ref<const Op>& op, std::vector<Variable> inputs) {
  replace_outputs(node, Apply::make(op, std::move(inputs), new_variables_like(node.outputs())));
}

void Rebuild::replace_outputs(const Apply& node, const Ref<Apply>& by) {
  by->set_trace(node.trace());
  for (int i = 0; i < node.output_count(); ++i) replace(node.output(i), by->output(i));
}

namespace {

// The replacement `by`, moved to the device that the type of `old` specifies.
Variable on_device_of(const Variable& old, const Variable& by) {
  const std::optional<Device>& device = old.type().device();
  if (!device || by.type().device() == device) return by;
  return (*transfer_op(*device))(std::span(&by, 1))[0];
}

void check_given(const Variable& old, const Variable& by, std::span<const Variable> inputs) {
  if (!old || !by) fail<GraphError>("function: givens has a pair with no variable in it");
  if (std::ranges::find(inputs, old) != inputs.end())
    fail<GraphError>("function: givens replaces ", old.label(), ", which is an input as well; ",
                     "leave it out of one of the two");
  const TensorType anywhere(old.type().dtype(), old.type().shape());
  if (!anywhere.includes(by.type()))
    fail<GraphError>("function: givens replaces ", old.label(), " of ", old.type(), " by ",
                     by.label(), " of ", by.type(), "; expected a variable of the first type");
}

}  // namespace

std::vector<Variable> apply_givens(std::span<const Variable> outputs,
                                   const std::vector<std::pair<Variable, Variable>>& givens,
                                   std::span<const Variable> inputs) {
  if (givens.empty()) return {outputs.begin(), outputs.end()};
  VariableSet boundary(inputs.begin(), inputs.end());
  Rebuild rebuild;
  for (const auto& [old, by] : givens) {
    check_given(old, by, inputs);
    boundary.insert(old);
    rebuild.replace(old, on_device_of(old, by));
  }
  for (const Ref<Apply>& node : nodes_for(outputs, boundary)) rebuild.visit(*node);
  return rebuild.current(outputs);
}

Device device_of(const Apply& node, Device fallback) {
  std::optional<Device> fixed;
  for (int i = 0; i < node.output_count(); ++i) {
    const std::optional<Device>& device = node.output(i).type().device();
    if (!device || (fixed && *fixed != *device)) return fallback;
    fixed = device;
  }
  return fixed.value_or(fallback);
}

Device device_of(const Variable& variable, const VariableSet& inputs, Device fallback) {
  if (const auto& device = variable.type().device()) return *device;
  if (variable.owner() == nullptr || inputs.contains(variable)) return fallback;
  return device_of(*variable.owner(), fallback);
}

bool outputs_are_few_numbers(const Apply& node) {
  const auto outputs = node.outputs();
  return std::ranges::all_of(outputs, [](const Variable& output) {
    const TensorType& type = output.type();
    return type.rank() == 0 ||
           (type.rank() == 1 && type.has_fixed_shape() && type.shape()[0] <= max_rank);
  });
}

bool may_be_equal(const TensorType& a, const TensorType& b) {
  if (a.dtype() != b.dtype() || a.rank() != b.rank()) return false;
  for (int axis = 0; axis < a.rank(); ++axis) {
    const std::int64_t m = a.shape()[axis], n = b.shape()[axis];
    if (m != n && m != TensorType::any && n != TensorType::any) return false;
  }
  return true;
}

}  // namespace spanwise::graph
