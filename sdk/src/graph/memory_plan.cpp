// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "graph/memory_plan.hpp"
#include "graph/traversal.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/graph/op.hpp"
#include "spanwise/runtime/config.hpp"
#include "spanwise/runtime/copy.hpp"

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

// Appends `variable` to `all` unless it is there.
void add_once(Variables& all, const Variable& variable) {
  if (std::ranges::find(all, variable) == all.end()) all.push_back(variable);
}

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

// One step of MemoryRoots: the inputs of the node that computes `variable` which it may view or, by
// `through`, overwrite; none where it has a separate buffer.
Variables aliased_inputs(const Variable& variable, const VariableSet& inputs, Through through) {
  Variables next;
  if (variable.owner() == nullptr || inputs.contains(variable)) return next;
  const Op& op = variable.owner()->op();
  add_aliased(next, variable, op.view_map());
  if (through == Through::views_and_overwriting) add_aliased(next, variable, op.destroy_map());
  return next;
}

// Whether `variable` is, or may view, an output that must not be written to.
bool is_readonly(const Variable& variable, const VariableSet& inputs) {
  Variables pending{variable};
  VariableSet seen(pending.begin(), pending.end());
  while (!pending.empty()) {
    const Variable current = std::move(pending.back());
    pending.pop_back();
    const bool is_computed = current.owner() != nullptr && !inputs.contains(current);
    if (is_computed && current.owner()->op().outputs_are_read_only()) return true;
    for (const Variable& input : aliased_inputs(current, inputs, Through::views))
      if (seen.insert(input).second) pending.push_back(input);
  }
  return false;
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
                              std::size_t i, MemoryRoots& viewed) {
  const Variables& roots = viewed.of(node_inputs[i]);
  for (std::size_t k = 0; k < node_inputs.size(); ++k) {
    if (k == i || !have_common(viewed.of(node_inputs[k]), roots)) continue;
    if (node_inputs[k] != node_inputs[i] || !node.op().allows_aliased_inplace()) return true;
  }
  return false;
}

}  // namespace

// Iterative, for chains of views of any length: a variable stays on the stack until the roots of
// its inputs are known.
const Variables& MemoryRoots::of(const Variable& variable) {
  const auto found = known_.find(variable);
  if (found != known_.end()) return found->second;
  Variables pending{variable};
  while (!pending.empty()) {
    const Variable current = pending.back();
    Variables roots;
    const std::size_t length = pending.size();
    for (const Variable& input : aliased_inputs(current, inputs_, through_)) {
      const auto entry = known_.find(input);
      if (entry == known_.end())
        pending.push_back(input);
      else
        roots.insert(roots.end(), entry->second.begin(), entry->second.end());
    }
    if (pending.size() > length) continue;
    pending.pop_back();
    if (roots.empty()) roots.push_back(current);
    known_.try_emplace(current, distinct(roots));
  }
  return known_.at(variable);
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

std::vector<Variable> protect(std::span<const Variable> outputs, const VariableSet& inputs,
                              const VariableSet& mutable_inputs) {
  const std::vector<Ref<Apply>> nodes = nodes_for(outputs, inputs);
  if (!overwrites_anything(nodes)) return {outputs.begin(), outputs.end()};
  MemoryRoots viewed(inputs, Through::views);
  VariableSet results;
  for (const Variable& output : outputs)
    for (const Variable& root : viewed.of(output)) results.insert(root);
  const auto must_be_kept = [&](const Variable& root) {
    const bool is_leaf = root.owner() == nullptr || inputs.contains(root);
    return results.contains(root) || (is_leaf && !mutable_inputs.contains(root));
  };
  Rebuild rebuild;
  for (const Ref<Apply>& node : nodes) {
    std::vector<Variable> current = rebuild.current(node->inputs());
    for (const std::size_t i : overwritten_inputs(*node)) {
      if (std::ranges::any_of(viewed.of(node->inputs()[i]), must_be_kept) ||
          is_readonly(node->inputs()[i], inputs) ||
          reads_overwritten_memory(*node, current, i, viewed))
        current[i] = copied(current[i]);
    }
    rebuild.visit(*node, std::move(current));
  }
  return rebuild.current(outputs);
}

std::vector<OrderEdge> readers_first(const std::vector<Ref<Apply>>& nodes,
                                     const VariableSet& inputs) {
  if (!overwrites_anything(nodes)) return {};
  MemoryRoots viewed(inputs, Through::views);
  std::unordered_map<Variable, std::vector<int>> readers;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    for (const Variable& input : nodes[i]->inputs())
      for (const Variable& root : viewed.of(input)) readers[root].push_back(static_cast<int>(i));
  std::vector<OrderEdge> edges;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    for (const std::size_t input : overwritten_inputs(*nodes[i]))
      for (const Variable& root : viewed.of(nodes[i]->inputs()[input]))
        for (const int reader : readers[root])
          if (reader != static_cast<int>(i)) edges.emplace_back(reader, static_cast<int>(i));
  return edges;
}

namespace {

// Smaller buffers are not reused: moving them costs as much as it saves.
constexpr std::int64_t min_bytes = 1 << 14;

struct BufferLifetime {
  std::size_t last = 0;        // the last step that uses the buffer
  std::vector<Cell*> viewers;  // as BufferReuse::viewers
};

// The lifetime of each buffer, with its views, by the variable it was allocated for.
std::unordered_map<Variable, BufferLifetime> lifetimes(
    const std::vector<Ref<Apply>>& nodes, const std::vector<std::vector<Ref<Cell>>>& cells,
    const VariableSet& inputs) {
  MemoryRoots buffers(inputs, Through::views_and_overwriting);
  std::unordered_map<Variable, BufferLifetime> lifetimes_of;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const Variable& input : nodes[i]->inputs())
      for (const Variable& root : buffers.of(input)) lifetimes_of[root].last = i;
    for (int k = 0; k < nodes[i]->output_count(); ++k) {
      const Variable output = nodes[i]->output(k);
      for (const Variable& root : buffers.of(output)) {
        BufferLifetime& lifetime = lifetimes_of[root];
        lifetime.last = std::max(lifetime.last, i);
        if (root != output) lifetime.viewers.push_back(cells[i][static_cast<std::size_t>(k)].get());
      }
    }
  }
  return lifetimes_of;
}

bool same_allocation(const KeptResult& a, const KeptResult& b) {
  return a.variable.type().dtype() == b.variable.type().dtype() &&
         a.variable.type().rank() == b.variable.type().rank() && a.device == b.device;
}

}  // namespace

MemoryPlan plan_memory(const std::vector<Ref<Apply>>& nodes,
                       const std::vector<std::vector<Ref<Cell>>>& cells,
                       const std::vector<KeptResult>& kept, const VariableSet& inputs) {
  const auto lifetimes_of = lifetimes(nodes, cells, inputs);
  std::vector<std::vector<const KeptResult*>> free_after(nodes.size());
  for (const KeptResult& result : kept)
    free_after[lifetimes_of.at(result.variable).last].push_back(&result);
  constexpr std::size_t max_donors = 16;  // keeps planning linear in the number of nodes
  std::vector<const KeptResult*> donors;  // results whose buffers no later step uses
  MemoryPlan plan;
  auto next = kept.begin();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    plan.first.push_back(plan.reuses.size());
    for (; next != kept.end() && next->step == i; ++next) {
      const auto donor = std::find_if(donors.rbegin(), donors.rend(), [&](const KeptResult* k) {
        return same_allocation(*k, *next);
      });
      if (donor == donors.rend()) continue;
      plan.reuses.push_back(
          {(*donor)->cell, next->cell, lifetimes_of.at((*donor)->variable).viewers});
      donors.erase(std::next(donor).base());
    }
    for (const KeptResult* result : free_after[i]) {
      if (donors.size() == max_donors) donors.erase(donors.begin());
      donors.push_back(result);
    }
  }
  plan.first.push_back(plan.reuses.size());
  return plan;
}

void MemoryPlan::pass_buffers(std::size_t position) noexcept {
  for (std::size_t i = first[position]; i < first[position + 1]; ++i) {
    BufferReuse& reuse = reuses[i];
    auto& from = reuse.from->value;
    if (!reuse.is_enabled || !from || from->nbytes() < min_bytes) continue;
    for (Cell* viewer : reuse.viewers) viewer->value.reset();
    if (from->storage().use_count() > 1) continue;
    reuse.moved_address = from->storage().data();
    reuse.to->value = std::exchange(from, std::nullopt);
  }
}

void MemoryPlan::check_buffers(std::size_t position) noexcept {
  for (std::size_t i = first[position]; i < first[position + 1]; ++i) {
    BufferReuse& reuse = reuses[i];
    if (reuse.moved_address == nullptr) continue;
    const auto& to = reuse.to->value;
    if (!to || to->storage().data() != reuse.moved_address) {
      reuse.is_enabled = false;
      reuse.moved_address = nullptr;
    }
  }
}

void MemoryPlan::return_buffers() noexcept {
  for (auto reuse = reuses.rbegin(); reuse != reuses.rend(); ++reuse) {
    if (std::exchange(reuse->moved_address, nullptr) == nullptr || !reuse->to->value) continue;
    reuse->from->value = std::move(reuse->to->value);
    reuse->to->value.reset();
  }
}

namespace {

[[maybe_unused]] const bool allow_gc_declared = config::declare(
    {.name = "allow_gc",
     .description = "free intermediate results during a call as soon as possible, instead of "
                    "keeping their memory for the next call",
     .default_value = "false"});

}  // namespace

Releases plan_releases(const std::vector<Ref<Apply>>& nodes,
                       const std::vector<std::vector<Ref<Cell>>>& cells,
                       const VariableSet& results) {
  std::unordered_map<Variable, std::size_t> last_use;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const Variable& input : nodes[i]->inputs()) last_use[input] = i;
    for (int k = 0; k < nodes[i]->output_count(); ++k) last_use[nodes[i]->output(k)] = i;
  }
  std::vector<std::vector<Cell*>> released_after(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i)
    for (int k = 0; k < nodes[i]->output_count(); ++k) {
      const Variable output = nodes[i]->output(k);
      if (!results.contains(output))
        released_after[last_use.at(output)].push_back(cells[i][static_cast<std::size_t>(k)].get());
    }
  Releases releases;
  for (const std::vector<Cell*>& released : released_after) {
    releases.first.push_back(releases.cells.size());
    releases.cells.insert(releases.cells.end(), released.begin(), released.end());
  }
  releases.first.push_back(releases.cells.size());
  return releases;
}

}  // namespace spanwise::graph
