// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "graph/order.hpp"
#include "spanwise/core/device.hpp"
#include "spanwise/graph/op.hpp"

/// Reuses the buffers of intermediate results for later ones whose lifetimes do not overlap.
namespace spanwise::graph {

/// Moves the buffer of `from`, whose last reader has run, to `to`, which is computed next; it is
/// moved back at the end of the call. Disabled for later calls once a thunk has not used the
/// buffer.
struct BufferReuse {
  Cell* from;
  Cell* to;
  std::vector<Cell*> viewers;           ///< cells with views of the buffer, no longer needed
  const void* moved_address = nullptr;  ///< of the moved buffer in this call, else null
  bool is_enabled = true;
};

/// An intermediate result whose buffer only its cell references.
struct KeptResult {
  Variable variable;
  Cell* cell;
  std::size_t step;  ///< the step that computes it
  Device device;
};

/// The reuses before each step, as ranges of one list. For programs whose steps run in order.
struct MemoryPlan {
  std::vector<BufferReuse> reuses;
  std::vector<std::size_t> first;  ///< index into `reuses` per step, and one past the last

  /// Call before step `position` runs: moves the buffers that it reuses to its cells.
  void pass_buffers(std::size_t position) noexcept;
  /// Call after it has run: disables the reuses whose buffer it has not used.
  void check_buffers(std::size_t position) noexcept;
  /// Call after each run, also after an error: moves the buffers back.
  void return_buffers() noexcept;
  bool empty() const noexcept { return reuses.empty(); }
};

/// `cells[i][k]` is the cell of output k of node i. `kept` is in the order of the steps.
MemoryPlan plan_memory(const std::vector<Ref<Apply>>& nodes,
                       const std::vector<std::vector<Ref<Cell>>>& cells,
                       const std::vector<KeptResult>& kept, const VariableSet& inputs);

}  // namespace spanwise::graph
