// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph_program.hpp"
#include "graph/owned_mutex.hpp"
#include "graph/recorded_calls.hpp"
#include "graph/specialised_functions.hpp"
#include "spanwise/graph/function.hpp"
#include "spanwise/graph/shared.hpp"

namespace spanwise::graph {

/// The cell into which a call puts one input, and what the input must be.
struct InputSlot {
  Ref<Cell> cell;
  TensorType type;
  Device device;
  std::string label;
  bool has_fixed_extents;
  bool is_mutable;
  bool may_stay_on_host;  ///< rank 0, and all its readers accept host scalars
};

/// The cell into which a call puts the value of one shared variable.
struct SharedSlot {
  Ref<Cell> cell;
  Ref<SharedValue> shared;
};

/// The cell from which a call takes one result: an output, or the new value of a shared variable.
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
  std::vector<ResultSlot> result_slots;   ///< for the outputs, then for `updated`
  std::vector<Ref<SharedValue>> updated;  ///< in the order of `updates`
  /// `updated` in the locking order common to all functions.
  std::vector<Ref<SharedValue>> locking_order;
  std::vector<Ref<Cell>> constant_cells;
  /// Cells emptied after each call: inputs, shared values, returned results, and results that are
  /// views of another cell's memory or overwrite it. A thunk reuses what it finds in its output
  /// cell, so memory of another cell must not stay there.
  std::vector<Ref<Cell>> transient_cells;
  /// Cells of intermediate results: a buffer stays for the next call if nothing else references it.
  std::vector<Ref<Cell>> kept_cells;
  Program program;
  std::unique_ptr<StepTimes> times;                   ///< null unless the function is profiled
  std::unique_ptr<SpecialisedFunctions> specialised;  ///< null where types fix all extents
  std::unique_ptr<RecordedCalls> recorded_calls;      ///< null where calls cannot be recorded
  double compile_seconds = 0;
  /// In mode "debug", computes the outputs and the updates by the graph without rewrites.
  std::optional<CompiledFunction> unrewritten;

  std::optional<FunctionProfile> profile();
  std::vector<StepSpan> spans();
  std::int64_t repeated_calls();
  std::vector<Array> call(std::span<const Array> arguments, std::span<Array> buffers = {});
  std::optional<std::vector<Array>> call_at_once(std::span<const Array> arguments);
  void free();

 private:
  friend class RecordedCalls;
  std::vector<Array> run(std::span<const Array> arguments, std::span<Array> buffers = {});
  std::vector<Array> run_loaded(std::span<const Array> originals, bool has_buffers);
  std::vector<Array> run_specialised(FunctionState& function);
  void load_buffers(std::span<Array> buffers);
  void load_inputs(std::span<const Array> arguments);
  void load_shared_values();
  void resolve_aliases();
  /// The outputs, then the new values of `updated`.
  std::vector<Array> collect_results();
  /// Updates the shared variables and removes their new values from `results`.
  void commit(std::vector<Array>& results);
  void check_rewrites(std::span<const Array> arguments, std::span<const Array> results) const;
  /// Whether `result` shares memory with earlier results, inputs, shared values or constants.
  bool shares_memory(const Array& result, std::span<const Array> earlier) const;
  void clear_cells() noexcept;

  OwnedMutex mutex_;  // held by the running call
};

/// function() of function.hpp.
Ref<FunctionState> compile_function(std::vector<Variable> inputs, std::vector<Variable> outputs,
                                    FunctionOptions options);

}  // namespace spanwise::graph
