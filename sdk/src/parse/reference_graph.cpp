// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "parse/reference_graph.hpp"

#include <algorithm>
#include <vector>

#include "core/string_utils.hpp"

namespace spanwise::parse {

// Names from the CUDA C++ Programming Guide 13.0, sections "Synchronization Functions", "Warp
// Vote", "Warp Match", "Warp Reduce", "Warp Shuffle Functions" and "Cooperative Groups"; those
// without _sync are CUDA 8's. Classes of CUB.
bool is_barrier_name(std::string_view name) {
  static constexpr std::string_view names =
      "__syncwarp __activemask __all __any __ballot __uni_sync __all_sync __any_sync "
      "__ballot_sync cooperative_groups this_thread_block tiled_partition coalesced_threads "
      "this_grid grid_group thread_block arrive_and_wait __barrier_sync";
  static constexpr std::string_view prefixes =
      "__syncthreads __shfl __match_ __reduce_ __barrier_sync BlockReduce BlockScan WarpScan "
      "BlockExchange BlockRadixSort WarpReduce";
  return is_word_of(name, names) || starts_with_word_of(name, prefixes);
}

void ReferenceGraph::add(std::string_view owner, std::string_view used) {
  auto entry = uses_.find(owner);
  if (entry == uses_.end())
    entry = uses_.emplace(owner, std::set<std::string, std::less<>>{}).first;
  if (!entry->second.contains(used)) entry->second.emplace(used);
}

void ReferenceGraph::merge(const ReferenceGraph& other) {
  for (const auto& [owner, used] : other.uses_) {
    for (const std::string& name : used) add(owner, name);
  }
}

bool ReferenceGraph::reaches_barrier(std::string_view owner) const {
  const auto reached = closure(owner);
  return std::ranges::any_of(reached, is_barrier_name);
}

bool ReferenceGraph::recurses(std::string_view owner) const {
  for (const std::string_view name : closure(owner)) {
    const auto entry = uses_.find(name);
    if (entry == uses_.end() || name.empty()) continue;
    for (const std::string& used : entry->second)
      if (used == name || closure(used).contains(name)) return true;
  }
  return false;
}

std::set<std::string_view> ReferenceGraph::used() const {
  std::set<std::string_view> names;
  for (const auto& [owner, uses] : uses_) names.insert(uses.begin(), uses.end());
  return names;
}

// `owner`, and all identifiers that it uses directly or indirectly.
std::set<std::string_view> ReferenceGraph::closure(std::string_view owner) const {
  std::set<std::string_view> seen{owner, ""};
  std::vector<std::string_view> pending(seen.begin(), seen.end());
  while (!pending.empty()) {
    const auto entry = uses_.find(pending.back());
    pending.pop_back();
    if (entry == uses_.end()) continue;
    for (const std::string& name : entry->second)
      if (seen.insert(name).second) pending.push_back(name);
  }
  return seen;
}

}  // namespace spanwise::parse
