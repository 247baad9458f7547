// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/execute/program.hpp"

#include <algorithm>
#include <unordered_map>

#include "graph/execute/failure.hpp"
#include "graph/execute/number_guard.hpp"
#include "graph/execute/step_times.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/core/device.hpp"

namespace spanwise::graph {
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
    const std::optional<Device>& device = step.node->inputs()[i].type().device();
    const bool is_read = !step.node->op().reads_only_shape(static_cast<int>(i));
    if (is_read && (!device || !device->is_cpu())) return false;
  }
  return true;
}

}  // namespace

Program::Program(std::string function_name, std::vector<Step> steps,
                 const std::vector<OrderEdge>& readers_first, const std::vector<Cell*>& outputs)
    : function_name_(std::move(function_name)),
      steps_(std::move(steps)),
      earlier_readers_(steps_.size()) {
  std::unordered_map<const Cell*, int> computed_by;
  for (std::size_t position = 0; position < steps_.size(); ++position) {
    const Step& step = steps_[position];
    thunks_.push_back(step.thunk.get());
    on_demand_ = on_demand_ || step.thunk->lazy();
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
  if (!on_demand_) launch_batches_ = LaunchBatches(steps_);
  is_async_ = !on_demand_ && std::ranges::all_of(steps_, [](const Step& step) {
    return runs_on_host(step.device) ? is_short_on_host(step) : step.thunk->is_async();
  });
  for (const auto& [first, then] : readers_first)
    earlier_readers_[static_cast<std::size_t>(then)].push_back(first);
  for (const Cell* output : outputs) {
    const auto producer = computed_by.find(output);
    if (producer != computed_by.end())
      output_steps_.push_back(static_cast<std::size_t>(producer->second));
  }
}

void Program::keep_results_of_shapes(const NodeSet& nodes) {
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
    if (on_demand_)
      run_on_demand();
    else if (!plan_.empty())
      run_sharing_memory(first);
    else if (!releases_.cells.empty())
      run_releasing();
    else
      run_in_order(first);
  } catch (...) {
    launch_batches_.abort_batch();
    rethrow_with_note([this] { return note_on_run(function_name_, steps_, current_); });
  }
  are_shapes_known_ = true;
  launch_batches_.finish();
}

void Program::run_in_order(std::size_t first) {
  const std::size_t count = thunks_.size();
  for (current_ = first; current_ < count; ++current_) run_step(current_);
}

void Program::run_sharing_memory(std::size_t first) {
  const std::size_t count = thunks_.size();
  for (current_ = first; current_ < count; ++current_) {
    plan_.pass_buffers(current_);
    run_step(current_);
    plan_.check_buffers(current_);
  }
}

void Program::run_releasing() {
  const std::size_t count = thunks_.size();
  for (current_ = 0; current_ < count; ++current_) {
    run_step(current_);
    releases_.after(current_);
  }
}

void Program::run_step(std::size_t position) {
  if (guard_) [[unlikely]]
    run_guarded_step(position);
  else if (is_checked_) [[unlikely]]
    run_checked_step(position);
  else if (times_ != nullptr) [[unlikely]]
    run_measured_step(position);
  else {
    launch_batches_.before(position);
    run_thunk(position);
  }
}

void Program::run_measured_step(std::size_t position) {
  StepTimes::Measure measure(*times_, position, steps_[position]);
  run_thunk(position);
  measure.finish();
}

// Inputs that the step overwrites are described before it runs.
void Program::run_guarded_step(std::size_t position) {
  const Step& step = steps_[position];
  check_leaves(step, computed_by_[position], *guard_);
  const std::string ranges =
      step.node->op().destroy_map().empty() ? std::string() : ranges_of_inputs(step);
  run_thunk(position);
  check_outputs(step, *guard_, ranges);
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

}  // namespace spanwise::graph
