// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/compile/memory_plan.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "graph/compile/aliases.hpp"

namespace spanwise::graph {
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
  std::unordered_map<Variable, Variables> known;
  // buffers_of(), memoised: inputs are visited before outputs, so each chain of views is walked
  // once.
  const auto buffers = [&](const Variable& variable) -> const Variables& {
    if (const auto entry = known.find(variable); entry != known.end()) return entry->second;
    Variables roots;
    for (const Variable& base : aliased_inputs(variable, inputs)) {
      const auto entry = known.find(base);
      const Variables base_roots = entry != known.end() ? entry->second : buffers_of(base, inputs);
      for (const Variable& root : base_roots) add_once(roots, root);
    }
    if (roots.empty()) roots.push_back(variable);
    return known.emplace(variable, std::move(roots)).first->second;
  };
  std::unordered_map<Variable, BufferLifetime> lifetimes_of;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const Variable& input : nodes[i]->inputs())
      for (const Variable& root : buffers(input)) lifetimes_of[root].last = i;
    for (int k = 0; k < nodes[i]->output_count(); ++k) {
      const Variable output = nodes[i]->output(k);
      for (const Variable& root : buffers(output)) {
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

}  // namespace spanwise::graph
