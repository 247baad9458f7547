// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "graph/order.hpp"
#include "spanwise/graph/op.hpp"

/// Releases intermediate results during a call, after their last reader has run (config
/// "allow_gc").
namespace spanwise::graph {

/// The cells to empty after each step, as ranges of one list. Memory that other cells still view
/// stays alive.
struct Releases {
  std::vector<Cell*> cells;
  std::vector<std::size_t> first;  ///< index into `cells` per step, and one past the last

  /// Call after step `position` has run.
  void after(std::size_t position) const noexcept {
    for (std::size_t i = first[position]; i < first[position + 1]; ++i) cells[i]->value.reset();
  }
};

/// `cells[i][k]` is the cell of output k of node i. Variables in `results` are not released.
Releases plan_releases(const std::vector<Ref<Apply>>& nodes,
                       const std::vector<std::vector<Ref<Cell>>>& cells,
                       const VariableSet& results);

}  // namespace spanwise::graph
