// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "graph/execute/owned_mutex.hpp"
#include "graph/execute/program.hpp"
#include "graph/execute/step_times.hpp"
#include "spanwise/graph/function.hpp"
#include "spanwise/graph/shared.hpp"

namespace spanwise::graph {

struct InputSlot {
  Ref<Cell> cell;
  TensorType type;
  Device device;
  std::string label;
  bool has_fixed_extents;
  bool is_mutable;
  bool may_stay_on_host;  ///< rank 0, and all its readers accept host scalars
};

struct SharedSlot {
  Ref<Cell> cell;
  Ref<SharedValue> shared;
};

struct ResultSlot {
  Ref<Cell> cell;
  bool is_leaf;      ///< an input, constant or shared value, which stays in its cell
  bool is_borrowed;  ///< may share memory with inputs, shared values and other results
};

/// The shared state of a CompiledFunction: the program and its cells.
class FunctionState final : public RefCounted {
 public:
  std::string name;
  Device device;
  std::string mode;
  std::vector<Variable> inputs, outputs;
  std::vector<std::pair<Variable, Variable>> updates;
  std::vector<RewriteReport> rewrites;
  std::vector<InputSlot> input_slots;
  bool has_mutable_inputs = false;
  std::vector<SharedSlot> shared_slots;
  std::vector<ResultSlot> result_slots;   // for the outputs, then for `updated`
  std::vector<Ref<SharedValue>> updated;  // in the order of `updates`
  // `updated` in the locking order common to all functions
  std::vector<Ref<SharedValue>> locking_order;
  std::vector<Ref<Cell>> constant_cells;
  /// Cells emptied after each call: inputs, shared values, and results that are returned, or that
  /// are views of or overwrite other cells' memory, so that a thunk never finds another cell's
  /// buffer.
  std::vector<Ref<Cell>> transient_cells;
  /// Cells of intermediate results, whose buffers are kept for the next call if nothing else
  /// references them.
  std::vector<Ref<Cell>> kept_cells;
  Program program;
  std::unique_ptr<StepTimes> times;  ///< null unless the function is profiled
  double compile_seconds = 0;
  /// Of mode "debug": the outputs and the updates of the graph without rewrites.
  std::optional<CompiledFunction> unrewritten;

  std::optional<FunctionProfile> profile();
  std::vector<StepSpan> spans();
  std::vector<Array> call(std::span<const Array> arguments);
  std::optional<std::vector<Array>> call_at_once(std::span<const Array> arguments);
  void free();

 private:
  class Running;
  class Updating;
  std::vector<Array> run(std::span<const Array> arguments);
  bool are_there(std::span<const Array> arguments) const noexcept;
  void take_inputs(std::span<const Array> arguments);
  void take_shared();
  void resolve_aliases();
  std::vector<Array> give_outputs();
  void commit(std::vector<Array>& results);
  void check_rewrites(std::span<const Array> arguments, std::span<const Array> results) const;
  Array own(Array result, std::span<const Array> earlier);
  bool is_taken(const Array& result, std::span<const Array> earlier) const;
  void tidy() noexcept;

  OwnedMutex mutex_;  // held by the running call
};

}  // namespace spanwise::graph
