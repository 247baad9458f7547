// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/compile/memory_plan.hpp"
#include "graph/compile/releases.hpp"
#include "graph/compile/shape_nodes.hpp"
#include "graph/execute/launch_batches.hpp"
#include "runtime/settings.hpp"
#include "spanwise/graph/function.hpp"
#include "spanwise/graph/op.hpp"

namespace spanwise::graph {

class StepTimes;

/// The cell of one output of a node, and the array expected in it after the node has run.
struct OutputSlot {
  Cell* cell;
  const TensorType* type;
  Device device;
  DType dtype;
  int rank;
  bool has_fixed_extents;
};

/// One node, ready to run.
struct Step {
  Ref<Apply> node;
  std::unique_ptr<Thunk> thunk;
  std::vector<Ref<Cell>> inputs, outputs;
  Device device;
};

/// The nodes of a compiled function as a list of thunks.
class Program {
 public:
  Program() = default;
  /// `steps` are in execution order; a step that runs on demand still runs after those that
  /// `readers_first` puts before it. `outputs` are the cells of the function's results.
  Program(std::string function_name, std::vector<Step> steps,
          const std::vector<OrderEdge>& readers_first, const std::vector<Cell*>& outputs);

  /// Runs all thunks in order or, if one is lazy, those that the outputs need. Exceptions get a
  /// note about the node that threw.
  void run();
  /// Enables the checks of mode "debug": run() computes each node twice and verifies its declared
  /// aliasing.
  void check_every_step() { is_checked_ = true; }
  /// Enables the checks of mode "nan_guard".
  void guard_numbers(const NanGuard& errors) {
    is_checked_ = true;
    guard_ = errors;
  }
  /// Enables reuse of buffers between intermediate results, for programs that run in order.
  void share_memory(MemoryPlan plan) { plan_ = std::move(plan); }
  /// Runs the first steps, as far as their nodes are in `nodes`, again only if a shape that they
  /// read has changed; otherwise their cells keep the results of the last call. For programs that
  /// run in order.
  void keep_results_of_shapes(const NodeSet& nodes);
  /// Enables early release of intermediate results, for programs that run in order.
  void release_early(Releases releases) { releases_ = std::move(releases); }
  /// Records the duration of each step in `times`, which must outlive all runs.
  void measure(StepTimes& times) { times_ = &times; }
  /// Whether a run only queues GPU work (Thunk::is_async() for every step) and at most computes
  /// some numbers on the host.
  bool is_async() const noexcept {
    return is_async_ && !is_checked_ && times_ == nullptr && !runtime::launch_blocking();
  }
  bool runs_in_order() const noexcept { return !on_demand_ && !is_checked_; }
  /// Call after each run: returns reused buffers to their cells.
  void return_buffers() noexcept { plan_.return_buffers(); }
  const std::vector<Step>& steps() const noexcept { return steps_; }

 private:
  std::size_t first_step();
  void run_in_order(std::size_t first);
  void run_sharing_memory(std::size_t first);
  void run_releasing();
  void run_on_demand();
  void run_step(std::size_t position);
  void run_thunk(std::size_t position);
  void run_measured_step(std::size_t position);
  void run_checked_step(std::size_t position);
  void run_guarded_step(std::size_t position);
  bool run_lazy_step(std::size_t position, std::vector<std::size_t>& needed);
  bool push_prerequisites(std::size_t position, std::vector<std::size_t>& stack) const;
  void finish_step(std::size_t position);
  bool is_done(std::size_t position) const;

  std::string function_name_;
  std::vector<Step> steps_;
  std::vector<Thunk*> thunks_;
  std::vector<OutputSlot> slots_;
  std::vector<std::size_t> first_slot_;  // index into slots_ per step, and one past the last
  // per step and input: the step that computes it, or -1 for a leaf
  std::vector<std::vector<int>> computed_by_;
  // per step: the steps that read memory before this one overwrites it
  std::vector<std::vector<int>> earlier_readers_;
  std::vector<std::size_t> output_steps_;  // the steps that compute the function's outputs
  /// A shape that the first steps read, as it was when they last ran.
  struct ShapeRead {
    const Cell* cell;
    Shape shape;
  };
  std::vector<ShapeRead> shapes_read_;
  std::size_t shape_steps_ = 0;
  bool are_shapes_known_ = false;
  MemoryPlan plan_;
  Releases releases_;
  LaunchBatches launch_batches_;
  StepTimes* times_ = nullptr;
  std::optional<NanGuard> guard_;
  bool on_demand_ = false, is_checked_ = false, is_async_ = false;
  std::size_t current_ = 0;  // the position of the running step, for the note of an error
};

}  // namespace spanwise::graph
