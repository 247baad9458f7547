// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/execute/number_guard.hpp"
#include "graph/execute/program.hpp"
#include "spanwise/core/error.hpp"

// Evaluation of programs with lazy thunks, as in Theano (theano/gof/vm.py, Stack): starts from the
// nodes that compute the outputs. A lazy thunk runs first and requests the inputs that it needs.
namespace spanwise::graph {

void Program::run_on_demand() {
  std::vector<std::size_t> stack(output_steps_.rbegin(), output_steps_.rend());
  while (!stack.empty()) {
    current_ = stack.back();
    if (is_done(current_)) {
      stack.pop_back();
    } else if (push_prerequisites(current_, stack)) {
      continue;
    } else if (!thunks_[current_]->lazy()) {
      run_step(current_);
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
  if (guard_) check_outputs(step, *guard_, "");
  return false;
}

}  // namespace spanwise::graph
