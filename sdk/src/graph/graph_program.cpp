// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <exception>
#include <unordered_map>
#include <utility>

#include "core/string_utils.hpp"
#include "graph/graph_program.hpp"
#include "graph/step_diagnostics.hpp"
#include "spanwise/core/device.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/runtime/interrupt.hpp"
#include "spanwise/runtime/profiler_range.hpp"

// The runs of a compiled function: its steps in order or on demand, the batches of their launches
// and their times.
namespace spanwise::graph {

// Batches the launches of one device only: a batch belongs to one stream, and launches on other
// devices must not be reordered with it.
LaunchBatches::LaunchBatches(const std::vector<Step>& steps) {
  const auto first = std::ranges::find_if(
      steps, [](const Step& step) { return !runs_on_host(step.device) && step.thunk->is_async(); });
  if (first == steps.end()) return;
  device_ = first->device;
  joins_.resize(steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i)
    joins_[i] = steps[i].device == device_ && steps[i].thunk->is_async();
}

// Begins or ends a batch. Where the device does not open one, the steps launch directly.
void LaunchBatches::set_joining(bool join) {
  is_joining_ = join;
  if (join) {
    if (!batch_) batch_ = runtime::backend_for(device_).launch_batch(device_.ordinal());
    is_open_ = batch_ && batch_->open(runtime::current_stream(device_));
  } else if (std::exchange(is_open_, false)) {
    batch_->close();
  }
}

void LaunchBatches::abort_batch() noexcept {
  is_joining_ = false;
  if (!std::exchange(is_open_, false)) return;
  try {
    batch_->close();
  } catch (const std::exception&) {  // another error is being reported
  }
}

namespace {

using Clock = std::chrono::steady_clock;

double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

// Limits of pending events and recorded spans, which bound the memory of long runs.
constexpr std::size_t max_pending = 4096, max_spans = 100000;

}  // namespace

void StepTimes::measure(std::size_t position, const Step& step, const std::function<void()>& run) {
  const Clock::time_point start = Clock::now();
  std::optional<Event> before;
  if (!step.device.is_cpu()) before = Stream::current(step.device).record(true);
  run();
  StepProfile& profile = profiles_[position];
  ++profile.calls;
  profile.output_bytes = 0;
  for (const Ref<Cell>& cell : step.outputs)
    if (cell->value) profile.output_bytes += cell->value->nbytes();
  const Clock::time_point now = Clock::now();
  const std::size_t span = spans_.size();
  if (span < max_spans) spans_.push_back({position, seconds_between(origin_, start), 0});
  if (!before) return add(position, span, seconds_between(start, now));
  if (pending_.size() == max_pending) add_pending();
  pending_.push_back(
      {position, std::move(*before), Stream::current(step.device).record(true), span});
}

void StepTimes::add(std::size_t step, std::size_t span, double seconds) {
  profiles_[step].seconds += seconds;
  if (span < spans_.size()) spans_[span].seconds = seconds;
}

void StepTimes::add_pending() {
  for (Pending& pending : pending_) {
    pending.after.synchronize();
    add(pending.step, pending.span, pending.after.milliseconds_since(pending.before) * 1e-3);
  }
  pending_.clear();
}

void StepTimes::begin_call() { call_start_ = Clock::now(); }

void StepTimes::end_call() {
  ++calls_;
  call_seconds_ += seconds_between(call_start_, Clock::now());
}

FunctionProfile StepTimes::profile(const std::vector<Step>& steps) {
  add_pending();
  FunctionProfile result{calls_, call_seconds_, profiles_};
  for (std::size_t i = 0; i < steps.size(); ++i) result.steps[i].node = steps[i].node;
  return result;
}

std::vector<StepSpan> StepTimes::spans() {
  add_pending();
  return spans_;
}

namespace {

// Out of line, to keep the loop over nodes small.
[[noreturn, gnu::cold]] void fail_output(const Step& step, const OutputSlot& slot) {
  const auto output = std::ranges::find(step.outputs, slot.cell, &Ref<Cell>::get);
  const auto index = output - step.outputs.begin();
  const std::string caller = text(step.node->op().name(), ": output ", index);
  if (!slot.cell->value.has_value())
    fail<GraphError>(caller, " was not computed; expected the thunk to put an array into its cell");
  const Array& got = *slot.cell->value;
  const auto mismatch = slot.type->mismatch(got);
  if (mismatch)
    fail<GraphError>(caller, " does not fit its type ", *slot.type, ": ", mismatch.value_or(""),
                     "; correct the type that make_node declares or what the thunk computes");
  fail<GraphError>(caller, " is on ", got.device(), "; expected ", slot.device,
                   ", where the node runs");
}

bool fits(const OutputSlot& slot) noexcept {
  if (!slot.cell->value) return false;
  const Array& value = *slot.cell->value;
  return value.dtype() == slot.dtype && value.rank() == slot.rank &&
         value.device() == slot.device && (!slot.has_fixed_extents || slot.type->matches(value));
}

// Whether the step computes a few numbers from others that are on the host, without waiting.
bool is_short_on_host(const Step& step) {
  if (!step.device.is_cpu() || !step.thunk->is_async() || !outputs_are_few_numbers(*step.node))
    return false;
  for (std::size_t i = 0; i < step.node->inputs().size(); ++i) {
    const Variable& input = step.node->inputs()[i];
    const std::optional<Array>& value = step.inputs[i]->value;
    const bool is_host_constant = input.value() != nullptr && value && value->device().is_cpu();
    const bool is_on_host = is_host_constant || input.type().device() == cpu;
    if (!is_on_host && !step.node->op().reads_only_shape(static_cast<int>(i))) return false;
  }
  return true;
}

}  // namespace

Program::Program(std::string function_name, std::vector<Step> steps,
                 const std::vector<OrderEdge>& readers_first, const std::vector<Cell*>& outputs,
                 RunOptions options)
    : function_name_(std::move(function_name)),
      steps_(std::move(steps)),
      earlier_readers_(steps_.size()),
      options_(std::move(options)) {
  bool is_on_demand = false;
  std::unordered_map<const Cell*, int> computed_by;
  for (std::size_t position = 0; position < steps_.size(); ++position) {
    const Step& step = steps_[position];
    thunks_.push_back(step.thunk.get());
    is_on_demand = is_on_demand || step.thunk->lazy();
    first_slot_.push_back(slots_.size());
    for (std::size_t i = 0; i < step.outputs.size(); ++i) {
      const TensorType& type = step.node->output(static_cast<int>(i)).type();
      slots_.push_back({step.outputs[i].get(), &type, type.device().value_or(step.device),
                        type.dtype(), type.rank(), type.has_fixed_extents()});
      computed_by.emplace(step.outputs[i].get(), static_cast<int>(position));
    }
    computed_by_.emplace_back();
    for (const Ref<Cell>& input : step.inputs) {
      const auto producer = computed_by.find(input.get());
      computed_by_.back().push_back(producer == computed_by.end() ? -1 : producer->second);
    }
  }
  first_slot_.push_back(slots_.size());
  for (const auto& [first, then] : readers_first)
    earlier_readers_[static_cast<std::size_t>(then)].push_back(first);
  for (const Cell* output : outputs) {
    const auto producer = computed_by.find(output);
    if (producer != computed_by.end())
      output_steps_.push_back(static_cast<std::size_t>(producer->second));
  }
  find_shapes_read(std::exchange(options_.shape_nodes, {}));
  if (!is_on_demand) launch_batches_ = LaunchBatches(steps_);
  if (options_.guard) {
    runner_ = runner<&Program::run_guarded_step>(is_on_demand);
  } else if (options_.runs_twice) {
    runner_ = runner<&Program::run_step_twice>(is_on_demand);
  } else if (options_.times != nullptr) {
    runner_ = runner<&Program::run_measured_step>(is_on_demand);
  } else {
    runner_ = runtime::profiler_attached ? runner<&Program::run_named_step>(is_on_demand)
                                         : runner<&Program::run_batched_step>(is_on_demand);
    is_async_ = !is_on_demand && std::ranges::all_of(steps_, [](const Step& step) {
      return runs_on_host(step.device) ? is_short_on_host(step) : step.thunk->is_async();
    });
  }
}

bool Program::is_recordable() const {
  // A graph of fewer kernels is launched as fast by LaunchBatches, and without copies.
  constexpr std::ptrdiff_t min_steps = 12;
  const auto on_gpu = [](const Step& step) { return !runs_on_host(step.device); };
  const auto first = std::ranges::find_if(steps_, on_gpu);
  const auto is_repeatable = [&](const Step& step) {
    return (runs_on_host(step.device) || step.device == first->device) &&
           step.node->op().foldable(*step.node) &&
           dynamic_cast<const SequencedOp*>(&step.node->op()) == nullptr;
  };
  return is_async_ && std::ranges::count_if(steps_, on_gpu) >= min_steps &&
         std::ranges::all_of(steps_, is_repeatable);
}

template <Program::RunStep run_step>
Program::Runner Program::runner(bool is_on_demand) const {
  if (is_on_demand) return &Program::run_on_demand<run_step>;
  if (!options_.plan.empty()) return &Program::run_sharing_memory<run_step>;
  if (!options_.releases.cells.empty()) return &Program::run_releasing<run_step>;
  return &Program::run_in_order<run_step>;
}

void Program::find_shapes_read(const NodeSet& nodes) {
  while (shape_steps_ < steps_.size() && nodes.contains(steps_[shape_steps_].node.get())) {
    const Step& step = steps_[shape_steps_];
    for (std::size_t i = 0; i < step.inputs.size(); ++i)
      if (computed_by_[shape_steps_][i] < 0 &&
          step.node->op().reads_only_shape(static_cast<int>(i)))
        shapes_read_.push_back({step.inputs[i].get(), Shape()});
    ++shape_steps_;
  }
}

// The step to begin with: the first, or the first that depends on more than shapes.
std::size_t Program::first_step() {
  if (shape_steps_ == 0) return 0;
  bool are_known = std::exchange(are_shapes_known_, false);
  for (ShapeRead& read : shapes_read_) {
    const Shape& shape = read.cell->value->shape();
    if (shape == read.shape) continue;
    read.shape = shape;
    are_known = false;
  }
  return are_known ? shape_steps_ : 0;
}

void Program::run() {
  const std::size_t first = first_step();
  for (std::size_t i = first_slot_[first]; i < slots_.size(); ++i) slots_[i].cell->computed = false;
  try {
    (this->*runner_)(first);
  } catch (...) {
    launch_batches_.abort_batch();
    rethrow_with_note([this] { return note_on_run(function_name_, steps_, current_); });
  }
  are_shapes_known_ = true;
  launch_batches_.finish();
}

namespace {

// Lets Ctrl-C end a call with many steps.
void check_interrupt_at(std::size_t position) {
  constexpr std::size_t interval = 256;  // a power of 2
  if (position % interval == interval - 1) [[unlikely]]
    check_interrupt();
}

}  // namespace

template <Program::RunStep run_step>
void Program::run_in_order(std::size_t first) {
  const std::size_t count = thunks_.size();
  for (current_ = first; current_ < count; ++current_) {
    (this->*run_step)(current_);
    check_interrupt_at(current_);
  }
}

template <Program::RunStep run_step>
void Program::run_sharing_memory(std::size_t first) {
  const std::size_t count = thunks_.size();
  for (current_ = first; current_ < count; ++current_) {
    options_.plan.pass_buffers(current_);
    (this->*run_step)(current_);
    options_.plan.check_buffers(current_);
    check_interrupt_at(current_);
  }
}

template <Program::RunStep run_step>
void Program::run_releasing(std::size_t first) {
  const std::size_t count = thunks_.size();
  for (current_ = first; current_ < count; ++current_) {
    (this->*run_step)(current_);
    options_.releases.after(current_);
    check_interrupt_at(current_);
  }
}

void Program::run_batched_step(std::size_t position) {
  launch_batches_.before(position);
  run_thunk(position);
}

// For a profiler: "add #3 (total)", the op, the position, and the name of the first output.
void Program::run_named_step(std::size_t position) {
  const Apply& node = *steps_[position].node;
  const std::string& output = node.output(0).name();
  const runtime::ProfilerRange range(
      text(node.op().name(), " #", position, output.empty() ? "" : " (" + output + ")"));
  run_batched_step(position);
}

void Program::run_measured_step(std::size_t position) {
  options_.times->measure(position, steps_[position], [=, this] { run_thunk(position); });
}

void Program::run_step_twice(std::size_t position) {
  run_twice(steps_[position], [=, this] { run_thunk(position); });
}

void Program::run_guarded_step(std::size_t position) {
  run_guarded(steps_[position], computed_by_[position], *options_.guard,
              [=, this] { run_thunk(position); });
}

void Program::run_thunk(std::size_t position) {
  const std::vector<int> needed = thunks_[position]->run();
  if (!needed.empty())
    fail<GraphError>(steps_[position].node->op().name(),
                     ": the thunk requests inputs, yet is not lazy; set its lazy to true");
  finish_step(position);
}

void Program::finish_step(std::size_t position) {
  for (std::size_t i = first_slot_[position]; i < first_slot_[position + 1]; ++i) {
    if (!fits(slots_[i])) [[unlikely]]
      fail_output(steps_[position], slots_[i]);
    slots_[i].cell->computed = true;
  }
}

// For programs with lazy thunks, as in Theano (theano/gof/vm.py, Stack): starts from the nodes that
// compute the outputs. A lazy thunk runs first and requests the inputs that it needs.
template <Program::RunStep run_step>
void Program::run_on_demand(std::size_t) {
  std::vector<std::size_t> stack(output_steps_.rbegin(), output_steps_.rend());
  while (!stack.empty()) {
    current_ = stack.back();
    if (is_done(current_)) {
      stack.pop_back();
    } else if (push_prerequisites(current_, stack)) {
      continue;
    } else if (!thunks_[current_]->lazy()) {
      (this->*run_step)(current_);
      check_interrupt_at(current_);
    } else if (std::vector<std::size_t> needed; run_lazy_step(current_, needed)) {
      stack.insert(stack.end(), needed.rbegin(), needed.rend());
    }
  }
}

bool Program::is_done(std::size_t position) const {
  // Nodes without outputs are never requested, so there is at least one slot.
  for (std::size_t i = first_slot_[position]; i < first_slot_[position + 1]; ++i)
    if (!slots_[i].cell->computed) return false;
  return true;
}

// Pushes the steps that must run before the step at `position`: earlier readers of memory that it
// overwrites and, unless it is lazy, the steps that compute its inputs. Returns true if it pushed
// any.
bool Program::push_prerequisites(std::size_t position, std::vector<std::size_t>& stack) const {
  const std::size_t length = stack.size();
  const auto push = [&](int step) {
    if (step >= 0 && !is_done(static_cast<std::size_t>(step)))
      stack.push_back(static_cast<std::size_t>(step));
  };
  for (const int step : earlier_readers_[position]) push(step);
  if (!thunks_[position]->lazy())
    for (const int step : computed_by_[position]) push(step);
  return stack.size() > length;
}

// Runs a lazy thunk; returns true if it requested inputs, and adds the steps that compute them to
// `needed`.
bool Program::run_lazy_step(std::size_t position, std::vector<std::size_t>& needed) {
  const Step& step = steps_[position];
  const std::string name = step.node->op().name();
  const std::vector<int> requested = thunks_[position]->run();
  for (const int input : requested) {
    if (input < 0 || static_cast<std::size_t>(input) >= step.inputs.size())
      fail<GraphError>(name, ": the lazy thunk requests input ", input, " of ", step.inputs.size());
    const int producer = computed_by_[position][static_cast<std::size_t>(input)];
    if (producer >= 0 && !is_done(static_cast<std::size_t>(producer)))
      needed.push_back(static_cast<std::size_t>(producer));
  }
  if (!requested.empty() && needed.empty())
    fail<GraphError>(name, ": the lazy thunk requests only inputs that are already computed");
  if (!requested.empty()) return true;
  if (!is_done(position))
    fail<GraphError>(name,
                     ": the lazy thunk requested no inputs, yet has not set the "
                     "compute_map of its outputs; a lazy thunk sets it itself");
  finish_step(position);
  if (options_.guard) check_outputs(step, *options_.guard);
  return false;
}

}  // namespace spanwise::graph
