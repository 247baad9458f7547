// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/compile/releases.hpp"

#include <unordered_map>

#include "spanwise/runtime/config.hpp"

namespace spanwise::graph {
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
