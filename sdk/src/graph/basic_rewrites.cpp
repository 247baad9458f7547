// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <exception>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "graph/memory_plan.hpp"
#include "graph/traversal.hpp"
#include "spanwise/graph/op.hpp"
#include "spanwise/graph/rewrite.hpp"
#include "spanwise/runtime/copy.hpp"

// The rewrites of any graph: merge, fold_constants, cut_transfers and inplace.
namespace spanwise::graph {
namespace {

// merge, merge_again: nodes with equal ops and inputs, and equal constants, become one (common
// subexpression elimination).

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
      : nodes_(nodes_for(graph.outputs, graph.inputs)), viewed_(graph.inputs, Through::views) {
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
        for (const Variable& root : viewed_.of(node->inputs()[input])) overwritten_.insert(root);
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
    if (!is_overwritten(node) && may_merge(node)) {
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

  bool is_overwritten(const Apply& node) {
    if (overwritten_.empty()) return false;
    for (const Variable& output : node.outputs())
      for (const Variable& root : viewed_.of(output))
        if (overwritten_.contains(root)) return true;
    return false;
  }

  // Equal nodes of a sequence are one step of it, although they have effects.
  static bool may_merge(const Apply& node) {
    return node.op().foldable(node) || dynamic_cast<const SequencedOp*>(&node.op()) != nullptr;
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
  MemoryRoots viewed_;
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

// fold_constants: nodes with only constant inputs are evaluated while the function is compiled.

// Results stay in memory as long as the function, so larger ones are folded only if they are no
// larger than their inputs.
constexpr std::int64_t max_folded_bytes = 1 << 20;

bool may_fold(const Apply& node, const std::vector<Variable>& inputs) {
  const bool are_constant =
      std::ranges::all_of(inputs, [](const Variable& v) { return v.value() != nullptr; });
  return are_constant && node.op().destroy_map().empty() && node.op().foldable(node);
}

// Computes the values of the outputs; empty where the node cannot be evaluated now: it is then
// evaluated at each call, or fails there with its own error.
std::vector<Array> evaluate(const Apply& node, const std::vector<Variable>& constants,
                            Device fallback) {
  const Device device = device_of(node, fallback);
  std::vector<Ref<Cell>> inputs, outputs;
  std::int64_t input_bytes = 0;
  for (const Variable& constant : constants) {
    inputs.push_back(make_ref<Cell>());
    const Device target = constant.type().device().value_or(fallback);
    inputs.back()->value = to_device(*constant.value(), target).as_readonly();
    inputs.back()->computed = true;
    input_bytes += constant.value()->nbytes();
  }
  for (int i = 0; i < node.output_count(); ++i) outputs.push_back(make_ref<Cell>());
  const std::vector<bool> recyclable(outputs.size(), false);
  const auto thunk = node.op().make_thunk(ThunkContext(node, device, inputs, outputs, recyclable));
  if (thunk == nullptr || thunk->lazy()) return {};
  thunk->run();
  std::int64_t bytes = 0;
  for (int i = 0; i < node.output_count(); ++i) {
    const auto& value = outputs[static_cast<std::size_t>(i)]->value;
    if (!value || !node.output(i).type().matches(*value)) return {};
    bytes += value->nbytes();
  }
  if (bytes > std::max(max_folded_bytes, input_bytes)) return {};
  std::vector<Array> values;
  // Copies: an output may be a view of the constant's array, which the caller may modify later.
  for (const Ref<Cell>& cell : outputs) values.push_back(copy(*cell->value));
  return values;
}

bool try_fold(const Apply& node, const std::vector<Variable>& inputs, Device fallback,
              Rebuild& rebuild) {
  if (!may_fold(node, inputs)) return false;
  std::vector<Array> values;
  try {
    values = evaluate(node, inputs, fallback);
  } catch (const std::exception&) {
    return false;
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Variable old = node.output(static_cast<int>(i));
    rebuild.replace(old, Variable::constant(std::move(values[i]), old.type(), old.name()));
  }
  return node.output_count() > 0 && !values.empty();
}

int fold_constants(RewriteGraph& graph) {
  Rebuild rebuild;
  int changes = 0;
  for (const Ref<Apply>& node : nodes_for(graph.outputs, graph.inputs)) {
    std::vector<Variable> inputs = rebuild.current(node->inputs());
    if (!graph.is_late() && try_fold(*node, inputs, graph.device, rebuild))
      ++changes;
    else
      rebuild.visit_as_is(*node, std::move(inputs));
  }
  graph.outputs = rebuild.current(graph.outputs);
  return changes;
}

[[maybe_unused]] const bool fold_registered = register_rewrite(
    {.name = "fold_constants", .position = 20, .tags = {"fast_run"}, .apply = fold_constants});

// cut_transfers: a transfer of a transfer becomes one transfer from the original value, and a
// transfer to the device the value is on is dropped.

int cut_transfers(RewriteGraph& graph) {
  Rebuild rebuild;
  int changes = 0;
  for (const Ref<Apply>& node : nodes_for(graph.outputs, graph.inputs)) {
    std::vector<Variable> inputs = rebuild.current(node->inputs());
    const auto target = transfer_target(node->op());
    Apply* producer = target && !graph.inputs.contains(inputs[0]) ? inputs[0].owner() : nullptr;
    if (producer != nullptr && transfer_target(producer->op())) {
      inputs[0] = producer->inputs()[0];
      ++changes;
    }
    if (target && device_of(inputs[0], graph.inputs, graph.device) == *target)
      rebuild.replace(node->output(0), inputs[0]);
    else
      rebuild.visit_as_is(*node, std::move(inputs));
  }
  graph.outputs = rebuild.current(graph.outputs);
  return changes;
}

[[maybe_unused]] const bool cut_registered = register_rewrite({.name = "cut_transfers",
                                                               .position = 30,
                                                               .tags = {"fast_run", "transfers"},
                                                               .apply = cut_transfers});

// inplace: a node overwrites an input that no other node reads, which saves a buffer; and the input
// is likely in the cache.

// The number of nodes that read each variable; being a function output counts as one more.
std::unordered_map<Variable, int> count_readers(const std::vector<Ref<Apply>>& nodes,
                                                const RewriteGraph& graph) {
  std::unordered_map<Variable, int> readers;
  for (const Ref<Apply>& node : nodes)
    for (const Variable& input : distinct(node->inputs())) ++readers[input];
  for (const Variable& output : graph.outputs) ++readers[output];
  return readers;
}

// Whether `variable` owns its memory and is read once: a mutable input, or an output that is not a
// view. An output that overwrites an input also owns its memory.
bool may_be_overwritten(const Variable& variable, const std::unordered_map<Variable, int>& readers,
                        const RewriteGraph& graph) {
  if (graph.inputs.contains(variable)) {
    if (!graph.mutable_inputs.contains(variable)) return false;
  } else if (variable.owner() == nullptr || !variable.owner()->op().has_unshared_outputs() ||
             variable.owner()->op().view_map().contains(variable.index())) {
    return false;
  }
  const auto count = readers.find(variable);
  return count != readers.end() && count->second == 1;
}

bool has_output_like(const Apply& node, const TensorType& type) {
  const std::vector<Variable> outputs = node.outputs();
  return std::ranges::any_of(outputs,
                             [&](const Variable& output) { return output.type() == type; });
}

// The variant of the node's op that overwrites as many of its inputs as it can; null where there is
// none.
Ref<const Op> overwriting_op(const Apply& node, const std::unordered_map<Variable, int>& readers,
                             const RewriteGraph& graph) {
  if (!node.op().destroy_map().empty() || !node.op().view_map().empty()) return {};
  const auto inputs = node.inputs();
  Ref<const Op> variant;
  int overwritten = 0;
  for (std::size_t i = 0; i < inputs.size() && overwritten < node.output_count(); ++i) {
    if (!has_output_like(node, inputs[i].type()) || !may_be_overwritten(inputs[i], readers, graph))
      continue;
    const auto here = inputs.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::find(inputs.begin(), here, inputs[i]) != here && variant) continue;
    const Op& current = variant ? *variant : node.op();
    const Ref<const Op> op = current.overwriting(static_cast<int>(i));
    const bool is_repeated = std::ranges::count(inputs, inputs[i]) > 1;
    if (!op || (is_repeated && !op->allows_aliased_inplace())) continue;
    variant = op;
    ++overwritten;
  }
  return variant;
}

int inplace(RewriteGraph& graph) {
  const std::vector<Ref<Apply>> nodes = nodes_for(graph.outputs, graph.inputs);
  const auto readers = count_readers(nodes, graph);
  Rebuild rebuild;
  int changes = 0;
  for (const Ref<Apply>& node : nodes) {
    std::vector<Variable> inputs = rebuild.current(node->inputs());
    const Ref<const Op> op =
        graph.is_late() ? Ref<const Op>() : overwriting_op(*node, readers, graph);
    if (!op) {
      rebuild.visit_as_is(*node, std::move(inputs));
      continue;
    }
    rebuild.visit_with(*node, op, std::move(inputs));
    ++changes;
  }
  graph.outputs = rebuild.current(graph.outputs);
  return changes;
}

[[maybe_unused]] const bool inplace_registered =
    register_rewrite({.name = "inplace", .position = 80, .tags = {"fast_run"}, .apply = inplace});

}  // namespace

}  // namespace spanwise::graph
