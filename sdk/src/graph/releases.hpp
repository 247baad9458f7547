// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "graph/order.hpp"
#include "spanwise/graph/op.hpp"

/// Which results between nodes are let go of during a call, as soon as nobody reads them any more.
namespace spanwise::graph {

/// After each step the cells that are emptied, as ranges of one list. Memory that other cells view
/// stays theirs.
struct Releases {
  std::vector<Cell*> cells;
  std::vector<std::size_t> first;  ///< of each step, and one past the last

  void after(std::size_t position) const noexcept {
    for (std::size_t i = first[position]; i < first[position + 1]; ++i) cells[i]->value.reset();
  }
};

/// `cells[i][k]`: the cell of output k of node i. What is among `results` stays.
Releases plan_releases(const std::vector<Ref<Apply>>& nodes,
                       const std::vector<std::vector<Ref<Cell>>>& cells,
                       const VariableSet& results);

}  // namespace spanwise::graph
