// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <unordered_map>
#include <vector>

#include "graph/traversal.hpp"
#include "spanwise/core/device.hpp"
#include "spanwise/graph/op.hpp"
#include "spanwise/graph/variable.hpp"

/// Which variables share memory, and which buffers a function reuses or releases while it runs.
/// `inputs` are those of the compiled graph: nodes that compute an input are not part of it.
namespace spanwise::graph {

// Alias analysis, by the ops' view_map and destroy_map.

using Variables = std::vector<Variable>;

/// The maps of ops that are followed from an output to inputs: view_map, or destroy_map too.
enum class Through { views, views_and_overwriting };

/// The variables whose memory a variable may share, by the maps of ops, found once for each
/// variable. `inputs` must outlive the object.
class MemoryRoots {
 public:
  MemoryRoots(const VariableSet& inputs, Through through) : inputs_(inputs), through_(through) {}

  /// Through::views: the variables whose memory `variable` may view, directly or indirectly, each
  /// once; only itself where it is not a view. An output that overwrites an input holds another
  /// value. Through::views_and_overwriting: the variables whose buffers it may use. Valid until the
  /// object is destroyed. Throws GraphError where a map names an input that the node does not have.
  const Variables& of(const Variable& variable);

 private:
  const VariableSet& inputs_;
  Through through_;
  std::unordered_map<Variable, Variables> known_;
};

/// The positions of the inputs that `node` overwrites. Throws GraphError where destroy_map names an
/// input that the node does not have.
std::vector<std::size_t> overwritten_inputs(const Apply& node);

/// Rebuilds the graph with copies inserted, so that no node overwrites a function output, a
/// constant, a shared variable, or an input that is not in `mutable_inputs`.
std::vector<Variable> protect(std::span<const Variable> outputs, const VariableSet& inputs,
                              const VariableSet& mutable_inputs);

/// The pairs of nodes where the second overwrites memory that the first reads.
std::vector<OrderEdge> readers_first(const std::vector<Ref<Apply>>& nodes,
                                     const VariableSet& inputs);

// The buffers of intermediate results serve later ones whose lifetimes do not overlap.

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

/// The cells to empty after each step, whose last reader it is, as ranges of one list (config
/// "allow_gc"). Memory that other cells still view stays alive.
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
