// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <unordered_map>
#include <utility>

#include "graph/compile/checks.hpp"
#include "graph/hooks_in_use.hpp"
#include "graph/order.hpp"
#include "graph/rebuild.hpp"
#include "spanwise/config.hpp"
#include "spanwise/error.hpp"
#include "spanwise/graph/op.hpp"
#include "spanwise/graph/rewrite.hpp"

// Runs a NodeRewrite over a graph.
namespace spanwise::graph {
namespace {

// How often in a row a rewrite may be applied to its own result: bounds rewrites that never stop.
constexpr int max_repetitions = 100;

[[maybe_unused]] const bool on_error_declared = config::declare(
    {.name = "on_opt_error",
     .description = "what a rewrite of the program's own that fails does: raise, or "
                    "warn or ignore, and leave the node as it is",
     .default_value = "raise",
     .choices = {"raise", "warn", "ignore"}});
constinit const config::Choice on_error{"on_opt_error"};

// Gives the nodes that a rewrite made without a trace the one of the node that they replace.
void set_traces(std::vector<Variable> result, const std::string& trace) {
  if (trace.empty()) return;
  while (!result.empty()) {
    Apply* node = result.back().owner();
    result.pop_back();
    if (node == nullptr || !node->trace().empty()) continue;
    node->set_trace(trace);
    result.insert(result.end(), node->inputs().begin(), node->inputs().end());
  }
}

class NodePass final : public NodeSurroundings {
 public:
  explicit NodePass(const NodeRewrite& rewrite) : rewrite_(rewrite) {}

  int run(RewriteGraph& graph) {
    device_ = graph.device;
    hide_owners(graph);
    const std::vector<Ref<Apply>> nodes = nodes_for(graph.outputs, graph.inputs);
    find_readers(graph, nodes);
    for (const Ref<Apply>& node : nodes) {
      if (graph.is_late && graph.is_late()) break;
      visit(*node);
    }
    graph.outputs = rebuild_.now(graph.outputs);
    show_owners(graph);
    return changes_;
  }

  std::vector<const Apply*> readers(const Variable& variable) const override {
    const auto found = readers_.find(variable);
    return found == readers_.end() ? std::vector<const Apply*>() : found->second;
  }

  Device device() const override { return device_; }

 private:
  // A rewrite follows Variable::owner(), which must not lead it past an input of the graph.
  void hide_owners(RewriteGraph& graph) {
    Rebuild rebuild;
    for (const Variable& input : graph.inputs) {
      if (input.owner() == nullptr) continue;
      hidden_.emplace_back(input, Variable(input.type(), input.name()));
      rebuild.replace(input, hidden_.back().second);
    }
    if (hidden_.empty()) return;
    for (const Ref<Apply>& node : nodes_for(graph.outputs, graph.inputs))
      rebuild.visit_as_is(*node);
    graph.outputs = rebuild.now(graph.outputs);
  }

  void show_owners(RewriteGraph& graph) const {
    if (hidden_.empty()) return;
    Rebuild rebuild;
    for (const auto& [input, stand_in] : hidden_) rebuild.replace(stand_in, input);
    for (const Ref<Apply>& node : nodes_for(graph.outputs, graph.inputs))
      rebuild.visit_as_is(*node);
    graph.outputs = rebuild.now(graph.outputs);
  }

  void find_readers(const RewriteGraph& graph, const std::vector<Ref<Apply>>& nodes) {
    if (!rewrite_.apply_within) return;
    const auto add = [&](const Variable& variable, const Apply* reader) {
      std::vector<const Apply*>& all = readers_[variable];
      if (all.empty() || all.back() != reader) all.push_back(reader);
    };
    for (const Ref<Apply>& node : nodes)
      for (const Variable& input : node->inputs()) add(input, node.get());
    for (const Variable& output : graph.outputs) add(output, nullptr);
  }

  void visit(const Apply& node) {
    rebuild_.visit_as_is(node);
    for (const Variable& output : node.outputs()) pass_readers(output, rebuild_.now(output));
    const Variable first = node.output_count() > 0 ? rebuild_.now(node.output(0)) : Variable();
    if (!first) return;
    const std::vector<Variable> by = replaced_again(*first.owner());
    if (by.empty()) return;
    ++changes_;
    for (int i = 0; i < node.output_count(); ++i) {
      pass_readers(node.output(i), by[static_cast<std::size_t>(i)]);
      rebuild_.replace(node.output(i), by[static_cast<std::size_t>(i)]);
    }
  }

  // Gives `by` the readers of `old`, in whose place it is.
  void pass_readers(const Variable& old, const Variable& by) {
    if (readers_.empty() || old == by) return;
    std::vector<const Apply*> all = readers(old);
    std::vector<const Apply*>& own = readers_[by];
    own.insert(own.end(), all.begin(), all.end());
  }

  std::vector<Variable> replaced(const Apply& node) const {
    std::vector<Variable> by =
        rewrite_.apply_within ? rewrite_.apply_within(node, *this) : rewrite_.apply(node);
    if (by.empty()) return by;
    try {
      check(node, by);
    } catch (const GraphError& error) {
      if (on_error.get() == 0) throw;
      if (on_error.get() == 1) warn(text(error.what(), "; the node stays (config on_opt_error)"));
      return {};
    }
    set_traces(by, node.trace());
    return by;
  }

  std::vector<Variable> replaced_again(const Apply& node) const {
    std::vector<Variable> by = replaced(node);
    for (int i = 0; i < max_repetitions; ++i) {
      const Apply* result = by.empty() ? nullptr : by[0].owner();
      if (result == nullptr || result == &node || result->output_count() != node.output_count())
        return by;
      std::vector<Variable> next = replaced(*result);
      if (next.empty()) return by;
      by = std::move(next);
    }
    fail<GraphError>("rewrite ", rewrite_.name,
                     ": replaces its own results without end, beginning with ", node.label());
  }

  void check(const Apply& node, const std::vector<Variable>& by) const {
    if (by.size() != static_cast<std::size_t>(node.output_count()))
      fail<GraphError>("rewrite ", rewrite_.name, ": expected ", node.output_count(),
                       " replacements for the outputs of ", node.label(), ", got ", by.size());
    for (int i = 0; i < node.output_count(); ++i) {
      const Variable& replacement = by[static_cast<std::size_t>(i)];
      const TensorType& old = node.output(i).type();
      if (!replacement) fail<GraphError>("rewrite ", rewrite_.name, ": gives a null variable");
      if (!may_be_equal(old, replacement.type()))
        fail<GraphError>("rewrite ", rewrite_.name, ": replaces ", node.output(i).label(), " of ",
                         old, " by ", replacement.label(), " of ", replacement.type(),
                         "; expected a variable of the same type");
    }
  }

  const NodeRewrite& rewrite_;
  Rebuild rebuild_;
  // {input of the graph, the variable without an owner that stands for it during the pass}
  std::vector<std::pair<Variable, Variable>> hidden_;
  std::unordered_map<Variable, std::vector<const Apply*>> readers_;
  Device device_;
  int changes_ = 0;
};

}  // namespace
}  // namespace spanwise::graph

namespace spanwise {

NodeSurroundings::~NodeSurroundings() = default;

bool register_node_rewrite(NodeRewrite rewrite) {
  return register_rewrite({.name = rewrite.name,
                           .position = rewrite.position,
                           .tags = rewrite.tags,
                           .apply = [rewrite = std::move(rewrite)](RewriteGraph& graph) {
                             return graph::NodePass(rewrite).run(graph);
                           }});
}

}  // namespace spanwise
