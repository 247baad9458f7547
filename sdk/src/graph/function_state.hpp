// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "graph/owned_mutex.hpp"
#include "graph/program.hpp"
#include "graph/step_times.hpp"
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
  bool may_stay_on_host;  ///< one number, which all readers take from there
};

struct SharedSlot {
  Ref<Cell> cell;
  Ref<SharedValue> shared;
};

struct ResultSlot {
  Ref<Cell> cell;
  bool is_leaf;      ///< an input, a constant or a shared value, which stays where it is
  bool is_borrowed;  ///< may share memory with such
};

/// What CompiledFunction shares: the program and the cells that it works on.
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
  std::vector<ResultSlot> result_slots;         // of the outputs, then of `updated`
  std::vector<Ref<SharedValue>> updated;        // in the order of `updates`
  std::vector<Ref<SharedValue>> locking_order;  // the same as all functions lock them
  std::vector<Ref<Cell>> constant_cells;
  /// Emptied after each call: what leaves the function or views what does, and what views or
  /// overwrites other cells' memory, so that a thunk never finds another's buffer in its cell.
  std::vector<Ref<Cell>> transient_cells;
  /// Results between nodes, whose buffers stay for the next call where nobody else holds them.
  std::vector<Ref<Cell>> kept_cells;
  Program program;
  std::unique_ptr<StepTimes> times;  ///< where the function is profiled
  double compile_seconds = 0;

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
  Array own(Array result, std::span<const Array> earlier);
  bool is_taken(const Array& result, std::span<const Array> earlier) const;
  void tidy() noexcept;

  OwnedMutex mutex_;  // held by the call that runs
};

}  // namespace spanwise::graph
