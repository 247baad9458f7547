// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/launch_batches.hpp"
#include "graph/memory_plan.hpp"
#include "graph/releases.hpp"
#include "runtime/settings.hpp"
#include "spanwise/graph/op.hpp"

namespace spanwise::graph {

class StepTimes;

/// Where a node writes one output, and what has to stand there when it is done.
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

/// The nodes of a compiled function as a flat list of thunks.
class Program {
 public:
  Program() = default;
  /// `steps` in order; `first_readers` as Before: pairs of positions in it.
  Program(std::string function_name, std::vector<Step> steps,
          const std::vector<std::pair<int, int>>& readers_first, const std::vector<Cell*>& outputs);

  /// Runs every thunk in order or, where one is lazy, those that the outputs turn out to need. An
  /// exception leaves with the note about the node that threw it.
  void run();
  /// From now on run() computes each node twice and compares, and looks after what the nodes do to
  /// memory that is not theirs.
  void check_every_step() { is_checked_ = true; }
  /// From now on results use each other's memory, where all steps run in order.
  void share_memory(MemoryPlan plan) { plan_ = std::move(plan); }
  /// From now on lets go of results as soon as they are not needed, where all steps run in order.
  void release_early(Releases releases) { releases_ = std::move(releases); }
  /// From now on tells `times`, which outlives the program's runs, what each step takes.
  void measure(StepTimes& times) { times_ = &times; }
  /// Whether a run does nothing but queue work on GPUs, through Spanwise alone.
  bool is_async() const noexcept {
    return only_queues_ && !is_checked_ && times_ == nullptr && !runtime::launch_blocking();
  }
  bool runs_in_order() const noexcept { return !on_demand_ && !is_checked_; }
  /// After each run: puts the memory back.
  void copy_out() noexcept { plan_.copy_out(); }
  const std::vector<Step>& steps() const noexcept { return steps_; }

 private:
  void run_in_order();
  void run_sharing_memory();
  void run_releasing();
  void run_on_demand();
  void run_step(std::size_t position);
  void run_any_step(std::size_t position);
  void run_measured_step(std::size_t position);
  void run_checked_step(std::size_t position);
  bool run_lazy_step(std::size_t position, std::vector<std::size_t>& needed);
  bool push_missing(std::size_t position, std::vector<std::size_t>& path) const;
  void finish_step(std::size_t position);
  bool is_done(std::size_t position) const;

  std::string function_name_;
  std::vector<Step> steps_;
  std::vector<Thunk*> thunks_;
  std::vector<OutputSlot> slots_;
  std::vector<std::size_t> first_slot_;   // of each step, and one past the last
  std::vector<std::vector<int>> makers_;  // of each input of each step: a step, or -1 for a leaf
  std::vector<std::vector<int>> before_;  // steps that must run before for the sake of memory
  std::vector<std::size_t> wanted_;       // steps that compute the function's outputs
  MemoryPlan plan_;
  Releases releases_;
  LaunchBatches rows_;
  StepTimes* times_ = nullptr;
  bool on_demand_ = false, is_checked_ = false, only_queues_ = false;
  std::size_t running_ = 0;
};

}  // namespace spanwise::graph
