// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "graph/order.hpp"
#include "spanwise/device.hpp"
#include "spanwise/graph/op.hpp"

/// Which results between nodes use the memory of earlier ones that nobody needs any more.
namespace spanwise::graph {

/// The buffer that was made for `from`, whose last reader has run, goes to `to`, which is computed
/// next; at the end of the call it goes back. Given up where a call shows that it does not fit.
struct BufferReuse {
  Cell* from;
  Cell* to;
  std::vector<Cell*> viewers;   ///< cells with windows onto the buffer, done as well
  const void* given = nullptr;  ///< the address that is on its way in this call
  bool serves = true;
};

/// A result between nodes whose buffer is its cell's own.
struct KeptResult {
  Variable variable;
  Cell* cell;
  std::size_t step;  ///< which computes it
  Device device;
};

/// For steps that run in order: the reuses before each step, as ranges of one list.
struct MemoryPlan {
  std::vector<BufferReuse> reuses;
  std::vector<std::size_t> first;  ///< of each step, and one past the last

  /// Before step `position` runs, and when it has.
  void give(std::size_t position) noexcept;
  void look(std::size_t position) noexcept;
  /// After a call, whether it went well or not.
  void copy_out() noexcept;
  bool empty() const noexcept { return reuses.empty(); }
};

/// `cells[i][k]`: the cell of output k of node i. `kept`, in the order of the steps.
MemoryPlan plan_memory(const std::vector<Ref<Apply>>& nodes,
                       const std::vector<std::vector<Ref<Cell>>>& cells,
                       const std::vector<KeptResult>& kept, const VariableSet& inputs);

}  // namespace spanwise::graph
