// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "graph/compile/compilation.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/devices.hpp"
#include "spanwise/core/error.hpp"

// Cells and slots: where a compiled function reads its inputs, constants and shared variables, and
// where it finds its results.
namespace spanwise::graph {

void Compilation::make_result_slots() {
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const Variable& output = outputs_[i];
    const bool is_leaf = output.owner() == nullptr || input_set_.contains(output);
    const bool is_borrowed = i < options_.borrowed_outputs.size() && options_.borrowed_outputs[i];
    state_->result_slots.push_back({cell_of(output), is_leaf, is_borrowed});
  }
  for (std::size_t i = 0; i < options_.updates.size(); ++i) {
    const Variable& shared = options_.updates[i].first;
    state_->updates.emplace_back(shared, outputs_[output_count_ + i]);
    state_->updated.emplace_back(shared.container());
  }
  state_->locking_order.assign(state_->updated.begin(), state_->updated.end());
  std::ranges::sort(state_->locking_order,
                    [](const auto& a, const auto& b) { return a.get() < b.get(); });
}

// Variables that a node or the caller needs on the function's device; only those of rank 0 are
// looked up. Other rank-0 inputs may stay on the host: transferring a number that an index or a
// kernel takes by value would be wasted. A node whose inputs all have rank 0 needs them on the
// device, since its output may be a view of one of them (reshape, ifelse).
VariableSet Compilation::scalars_needed_on_device() const {
  VariableSet needed(outputs_.begin(), outputs_.end());
  for (const Ref<Apply>& node : nodes_) {
    const auto inputs = node->inputs();
    const bool has_axes =
        std::ranges::any_of(inputs, [](const Variable& input) { return input.type().rank() > 0; });
    if (!node->op().takes_host_scalars() || !has_axes) needed.insert(inputs.begin(), inputs.end());
  }
  return needed;
}

void Compilation::make_input_slots() {
  state_->has_mutable_inputs = !mutable_inputs_.empty();
  const VariableSet needed_on_device = device_ == cpu ? VariableSet() : scalars_needed_on_device();
  for (const Variable& input : inputs_) {
    const Ref<Cell> cell = make_ref<Cell>();
    cell->computed = true;
    cells_.emplace(input, cell);
    const TensorType& type = input.type();
    const bool may_stay_on_host =
        type.rank() == 0 && !type.device() && device_ != cpu && !needed_on_device.contains(input);
    state_->input_slots.push_back({cell, type, type.device().value_or(device_), input.label(),
                                   type.has_fixed_extents(), mutable_inputs_.contains(input),
                                   may_stay_on_host});
  }
}

const Ref<Cell>& Compilation::cell_of(const Variable& variable) {
  const auto entry = cells_.find(variable);
  if (entry != cells_.end()) return entry->second;
  Ref<Cell> cell = variable.owner() == nullptr ? leaf_cell(variable) : make_ref<Cell>();
  return cells_.emplace(variable, std::move(cell)).first->second;
}

Ref<Cell> Compilation::leaf_cell(const Variable& variable) {
  Ref<Cell> cell = make_ref<Cell>();
  cell->computed = true;
  if (SharedValue* shared = variable.container()) {
    state_->shared_slots.push_back({cell, Ref<SharedValue>(shared)});
    return cell;
  }
  if (variable.value() == nullptr) fail_missing(variable);
  // Read-only, since a thunk that writes to a constant would change every later call.
  const Device device = variable.type().device().value_or(device_);
  cell->value = to_device(*variable.value(), device).as_readonly();
  state_->constant_cells.push_back(cell);
  return cell;
}

void Compilation::fail_missing(const Variable& leaf) const {
  std::string reader = "an output";
  for (const Ref<Apply>& node : nodes_) {
    const auto inputs = node->inputs();
    if (std::ranges::find(inputs, leaf) != inputs.end()) reader = node->label();
  }
  fail<GraphError>("function ", options_.name, ": ", leaf.label(), " of ", leaf.type(), ", which ",
                   reader,
                   " needs, is neither an input nor a constant; add it to the inputs, or "
                   "replace it through givens");
}

}  // namespace spanwise::graph
