// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/compile/aliases.hpp"

#include <algorithm>
#include <unordered_map>

#include "graph/rebuild.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/graph/op.hpp"

namespace spanwise::graph {
namespace {

class CopyOp final : public Op {
 public:
  std::string name() const override { return "Copy"; }
  Ref<Apply> make_node(std::span<const Variable> inputs) const override {
    if (inputs.size() != 1) fail<GraphError>("Copy: expected 1 input, got ", inputs.size());
    return Apply::make(Ref<const Op>(this), {inputs[0]}, {Variable(inputs[0].type())});
  }
  std::unique_ptr<Thunk> make_thunk(const ThunkContext& context) const override {
    return make_async_thunk([from = context.input(0), to = context.output(0)] {
      to->value = spanwise::copy(*from->value);
    });
  }
};

// The output of a node that copies `variable`.
Variable copied(const Variable& variable) {
  static const Ref<const Op> op = make_ref<const CopyOp>();
  return op->make_node(std::span(&variable, 1))->output(0);
}

// The maps of ops that are followed from an output to inputs: view_map, or destroy_map too.
enum class Through { views, views_and_overwriting };

// Adds the inputs that `map` names for `output` to `all`.
void add_aliased(Variables& all, const Variable& output, const AliasMap& map) {
  const auto entry = map.find(output.index());
  if (entry == map.end()) return;
  const auto inputs = output.owner()->inputs();
  for (const int input : entry->second) {
    if (input < 0 || static_cast<std::size_t>(input) >= inputs.size())
      fail<GraphError>(output.owner()->label(), ": output ", output.index(),
                       " is declared to share memory with input ", input, " of ", inputs.size());
    add_once(all, inputs[static_cast<std::size_t>(input)]);
  }
}

Variables next_towards_buffers(const Variable& variable, const VariableSet& inputs,
                               Through through) {
  Variables next;
  if (variable.owner() == nullptr || inputs.contains(variable)) return next;
  const Op& op = variable.owner()->op();
  add_aliased(next, variable, op.view_map());
  if (through == Through::views_and_overwriting) add_aliased(next, variable, op.destroy_map());
  return next;
}

// Calls visit(v, next) once for `variable` and every variable v whose memory it may share; `next`
// are the inputs whose memory v itself shares, by the maps of its op.
template <class Visit>
void walk(const Variable& variable, const VariableSet& inputs, Through through,
          const Visit& visit) {
  Variables pending{variable};
  VariableSet seen(pending.begin(), pending.end());
  while (!pending.empty()) {
    const Variable current = std::move(pending.back());
    pending.pop_back();
    const Variables next = next_towards_buffers(current, inputs, through);
    visit(current, next);
    for (const Variable& input : next)
      if (seen.insert(input).second) pending.push_back(input);
  }
}

Variables roots_of(const Variable& variable, const VariableSet& inputs, Through through) {
  Variables roots;
  walk(variable, inputs, through, [&](const Variable& current, const Variables& next) {
    if (next.empty()) roots.push_back(current);
  });
  return roots;
}

bool is_readonly(const Variable& variable, const VariableSet& inputs) {
  bool readonly = false;
  walk(variable, inputs, Through::views, [&](const Variable& current, const Variables&) {
    const bool is_computed = current.owner() != nullptr && !inputs.contains(current);
    readonly = readonly || (is_computed && current.owner()->op().gives_readonly());
  });
  return readonly;
}

bool overwrites_anything(const std::vector<Ref<Apply>>& nodes) {
  return std::ranges::any_of(
      nodes, [](const Ref<Apply>& node) { return !node->op().destroy_map().empty(); });
}

bool have_common(const Variables& a, const Variables& b) {
  return std::ranges::any_of(
      a, [&](const Variable& variable) { return std::ranges::find(b, variable) != b.end(); });
}

// Whether `node`, with the inputs `node_inputs`, may overwrite elements of input i before it reads
// them through another input that shares the memory.
bool reads_overwritten_memory(const Apply& node, std::span<const Variable> node_inputs,
                              std::size_t i, const VariableSet& inputs) {
  const Variables roots = viewed(node_inputs[i], inputs);
  for (std::size_t k = 0; k < node_inputs.size(); ++k) {
    if (k == i || !have_common(viewed(node_inputs[k], inputs), roots)) continue;
    if (node_inputs[k] != node_inputs[i] || !node.op().allows_aliased_inplace()) return true;
  }
  return false;
}

}  // namespace

void add_once(Variables& all, const Variable& variable) {
  if (std::ranges::find(all, variable) == all.end()) all.push_back(variable);
}

Variables viewed(const Variable& variable, const VariableSet& inputs) {
  return roots_of(variable, inputs, Through::views);
}

Variables buffers_of(const Variable& variable, const VariableSet& inputs) {
  return roots_of(variable, inputs, Through::views_and_overwriting);
}

std::vector<std::size_t> overwritten_inputs(const Apply& node) {
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

Variables aliased_inputs(const Variable& variable, const VariableSet& inputs) {
  return next_towards_buffers(variable, inputs, Through::views_and_overwriting);
}

std::vector<Variable> protect(std::span<const Variable> outputs, const VariableSet& inputs,
                              const VariableSet& mutable_inputs) {
  const std::vector<Ref<Apply>> nodes = nodes_for(outputs, inputs);
  if (!overwrites_anything(nodes)) return {outputs.begin(), outputs.end()};
  VariableSet results;
  for (const Variable& output : outputs)
    for (const Variable& root : viewed(output, inputs)) results.insert(root);
  const auto must_be_kept = [&](const Variable& root) {
    const bool is_leaf = root.owner() == nullptr || inputs.contains(root);
    return results.contains(root) || (is_leaf && !mutable_inputs.contains(root));
  };
  Rebuild rebuild;
  for (const Ref<Apply>& node : nodes) {
    std::vector<Variable> current = rebuild.current(node->inputs());
    for (const std::size_t i : overwritten_inputs(*node)) {
      const Variables roots = viewed(node->inputs()[i], inputs);
      if (std::ranges::any_of(roots, must_be_kept) || is_readonly(node->inputs()[i], inputs) ||
          reads_overwritten_memory(*node, current, i, inputs))
        current[i] = copied(current[i]);
    }
    rebuild.visit(*node, std::move(current));
  }
  return rebuild.current(outputs);
}

std::vector<OrderEdge> readers_first(const std::vector<Ref<Apply>>& nodes,
                                     const VariableSet& inputs) {
  if (!overwrites_anything(nodes)) return {};
  std::unordered_map<Variable, std::vector<int>> readers;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    for (const Variable& input : nodes[i]->inputs())
      for (const Variable& root : viewed(input, inputs))
        readers[root].push_back(static_cast<int>(i));
  std::vector<OrderEdge> edges;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    for (const std::size_t input : overwritten_inputs(*nodes[i]))
      for (const Variable& root : viewed(nodes[i]->inputs()[input], inputs))
        for (const int reader : readers[root])
          if (reader != static_cast<int>(i)) edges.emplace_back(reader, static_cast<int>(i));
  return edges;
}

}  // namespace spanwise::graph
