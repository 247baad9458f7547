// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/execute/number_guard.hpp"
#include "graph/execute/program.hpp"
#include "spanwise/error.hpp"

// Evaluation of programs with lazy thunks, as in Theano (theano/gof/vm.py, Stack): starts from the
// nodes that compute the outputs. A lazy thunk runs first and requests the inputs that it needs.
namespace spanwise::graph {

void Program::run_on_demand() {
  std::vector<std::size_t> path(wanted_.rbegin(), wanted_.rend());
  while (!path.empty()) {
    running_ = path.back();
    if (is_done(running_)) {
      path.pop_back();
    } else if (push_missing(running_, path)) {
      continue;
    } else if (!thunks_[running_]->lazy()) {
      run_any_step(running_);
    } else if (std::vector<std::size_t> needed; run_lazy_step(running_, needed)) {
      path.insert(path.end(), needed.rbegin(), needed.rend());
    }
  }
}

bool Program::is_done(std::size_t position) const {
  // Nodes without outputs are never requested, so there is at least one slot.
  for (std::size_t i = first_slot_[position]; i < first_slot_[position + 1]; ++i)
    if (!slots_[i].cell->computed) return false;
  return true;
}

// Pushes the steps that must run before `position` in any case; returns true if there are any.
bool Program::push_missing(std::size_t position, std::vector<std::size_t>& path) const {
  const std::size_t length = path.size();
  const auto push = [&](int maker) {
    if (maker >= 0 && !is_done(static_cast<std::size_t>(maker)))
      path.push_back(static_cast<std::size_t>(maker));
  };
  for (const int reader : before_[position]) push(reader);
  if (!thunks_[position]->lazy())
    for (const int maker : makers_[position]) push(maker);
  return path.size() > length;
}

// Runs a lazy thunk; returns true if it requested inputs, and adds the steps that compute them to
// `needed`.
bool Program::run_lazy_step(std::size_t position, std::vector<std::size_t>& needed) {
  const Step& step = steps_[position];
  const std::string name = step.node->op().name();
  const std::vector<int> asked = thunks_[position]->run();
  for (const int input : asked) {
    if (input < 0 || static_cast<std::size_t>(input) >= step.inputs.size())
      fail<GraphError>(name, ": the lazy thunk asks for input ", input, " of ", step.inputs.size());
    const int maker = makers_[position][static_cast<std::size_t>(input)];
    if (maker >= 0 && !is_done(static_cast<std::size_t>(maker)))
      needed.push_back(static_cast<std::size_t>(maker));
  }
  if (!asked.empty() && needed.empty())
    fail<GraphError>(name, ": the lazy thunk asks for inputs that are computed already");
  if (!asked.empty()) return true;
  if (!is_done(position))
    fail<GraphError>(name,
                     ": the lazy thunk is done, yet has not set the "
                     "compute_map of its outputs; a lazy thunk sets it itself");
  finish_step(position);
  if (guard_) check_outputs(step, *guard_, "");
  return false;
}

}  // namespace spanwise::graph
