// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/order.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <string_view>
#include <unordered_map>

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
  std::vector<Variable> all;
  for (const Variable& variable : variables)
    if (std::ranges::find(all, variable) == all.end()) all.push_back(variable);
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

}  // namespace spanwise::graph
