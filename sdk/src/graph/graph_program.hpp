// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/memory_plan.hpp"
#include "graph/traversal.hpp"
#include "runtime/backend.hpp"
#include "runtime/settings.hpp"
#include "spanwise/core/device.hpp"
#include "spanwise/core/ref.hpp"
#include "spanwise/graph/function.hpp"
#include "spanwise/graph/op.hpp"
#include "spanwise/runtime/stream.hpp"

namespace spanwise::graph {

/// One node, ready to run.
struct Step {
  Ref<Apply> node;
  std::unique_ptr<Thunk> thunk;
  std::vector<Ref<Cell>> inputs, outputs;
  Device device;
};

/// Batches the kernel launches of consecutive asynchronous steps of a program
/// (runtime::LaunchBatch). For one run at a time.
class LaunchBatches {
 public:
  LaunchBatches() = default;
  explicit LaunchBatches(const std::vector<Step>& steps);

  /// Call before step `position` runs.
  void before(std::size_t position) {
    if (!joins_.empty() && joins_[position] != is_joining_) set_joining(joins_[position]);
  }
  /// Call after the last step. Submits the batch and throws the errors of its launches.
  void finish() {
    if (is_joining_) set_joining(false);
  }
  /// Call after a step that failed: submits the batch and ignores its errors, since another error
  /// is being reported.
  void abort_batch() noexcept;

 private:
  void set_joining(bool join);

  Device device_ = cpu;
  std::vector<bool> joins_;  // per step: whether it joins the batch; empty: batching is not used
  Ref<runtime::LaunchBatch> batch_;
  bool is_joining_ = false, is_open_ = false;  // is_open_: the device batches launches
};

/// The time of each step of a function: host time, or on a GPU the time between two events, which
/// profile() and spans() read.
class StepTimes {
 public:
  explicit StepTimes(std::size_t steps) : profiles_(steps) {}

  /// Calls `run`, which runs the step at `position`, and records the time, unless it throws.
  void measure(std::size_t position, const Step& step, const std::function<void()>& run);
  void begin_call();
  void end_call();
  /// Waits for unfinished GPU work.
  FunctionProfile profile(const std::vector<Step>& steps);
  std::vector<StepSpan> spans();

 private:
  /// A step whose GPU work may not have finished.
  struct Pending {
    std::size_t step;
    Event before, after;
    std::size_t span;  ///< index in spans_, or past their end
  };
  /// Adds the duration of one run of a step; `span` is its index in spans_, or past their end.
  void add(std::size_t step, std::size_t span, double seconds);
  /// Waits for the pending steps and adds their durations.
  void add_pending();

  std::vector<StepProfile> profiles_;
  std::vector<Pending> pending_;
  std::vector<StepSpan> spans_;
  std::int64_t calls_ = 0;
  double call_seconds_ = 0;
  std::chrono::steady_clock::time_point call_start_{};
  const std::chrono::steady_clock::time_point origin_ = std::chrono::steady_clock::now();
};

/// The cell of one output of a node, and the array expected in it after the node has run.
struct OutputSlot {
  Cell* cell;
  const TensorType* type;
  Device device;
  DType dtype;
  int rank;
  bool has_fixed_extents;
};

/// How a program runs, decided when its function is compiled. The last two are for steps that run
/// in order: none is lazy or checked.
struct RunOptions {
  bool runs_twice = false;          ///< mode "debug": see run_twice()
  std::optional<NanGuard> guard{};  ///< mode "nan_guard"
  StepTimes* times = nullptr;       ///< records the duration of each step; must outlive all runs
  Releases releases{};              ///< intermediate results are released early
  MemoryPlan plan{};                ///< intermediate results reuse the buffers of earlier ones
  /// The first steps, as far as their nodes are in this set, run again only if a shape that they
  /// read has changed; otherwise their cells keep the results of the last call.
  NodeSet shape_nodes{};
};

/// The nodes of a compiled function as a list of thunks.
class Program {
 public:
  Program() = default;
  /// `steps` are in execution order; a step that runs on demand still runs after those that
  /// `readers_first` puts before it. `outputs` are the cells of the function's results.
  Program(std::string function_name, std::vector<Step> steps,
          const std::vector<OrderEdge>& readers_first, const std::vector<Cell*>& outputs,
          RunOptions options);

  /// Runs all thunks in order or, if one is lazy, those that the outputs need. Exceptions get a
  /// note about the node that threw.
  void run();
  /// Whether a run only queues GPU work (Thunk::is_async() for every step) and at most computes
  /// some numbers on the host.
  bool is_async() const noexcept { return is_async_ && !runtime::launch_blocking(); }
  /// Whether a run is determined by its inputs, the numbers of which it computes on the host, so
  /// that its GPU work can be recorded and repeated, and has enough steps to be worth it.
  bool is_recordable() const;
  /// Call after each run: returns reused buffers to their cells.
  void return_buffers() noexcept { options_.plan.return_buffers(); }
  const std::vector<Step>& steps() const noexcept { return steps_; }

 private:
  /// Runs the steps from `first` on. Chosen once, so that the loop over the steps asks for no mode.
  using Runner = void (Program::*)(std::size_t first);
  /// Runs one step: run_thunk(), with what a mode adds to it.
  using RunStep = void (Program::*)(std::size_t position);
  template <RunStep run_step>
  Runner runner(bool is_on_demand) const;
  template <RunStep run_step>
  void run_in_order(std::size_t first);
  template <RunStep run_step>
  void run_sharing_memory(std::size_t first);
  template <RunStep run_step>
  void run_releasing(std::size_t first);
  template <RunStep run_step>
  void run_on_demand(std::size_t first);
  void run_batched_step(std::size_t position);
  void run_named_step(std::size_t position);
  void run_measured_step(std::size_t position);
  void run_step_twice(std::size_t position);
  void run_guarded_step(std::size_t position);
  void run_thunk(std::size_t position);
  void finish_step(std::size_t position);
  bool run_lazy_step(std::size_t position, std::vector<std::size_t>& needed);
  bool push_prerequisites(std::size_t position, std::vector<std::size_t>& stack) const;
  bool is_done(std::size_t position) const;
  void find_shapes_read(const NodeSet& nodes);
  std::size_t first_step();

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
  RunOptions options_;
  LaunchBatches launch_batches_;
  Runner runner_ = nullptr;
  bool is_async_ = false;
  std::size_t current_ = 0;  // the position of the running step, for the note of an error
};

}  // namespace spanwise::graph
