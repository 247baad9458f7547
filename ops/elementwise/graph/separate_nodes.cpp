// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "separate_nodes.hpp"

#include <unordered_map>
#include <utility>

#include "elementwise_op.hpp"
#include "spanwise/runtime/copy.hpp"

namespace spanwise::ops {

std::span<const Array* const> SeparateNodes::take_operands() {
  for (std::size_t i = 0; i < inputs_.size(); ++i)
    operands_[i] = &on_device_or_number(*inputs_[i]->value, device, moved_[i]);
  return operands_;
}

void SeparateNodes::make_thunks() {
  std::unordered_map<Variable, Ref<Cell>> cells;
  for (std::size_t i = 0; i < inputs_.size(); ++i) cells.emplace(fused_.inputs[i], inputs_[i]);
  for (const Ref<Apply>& node : fused_.nodes) {
    std::vector<Ref<Cell>> node_inputs, node_outputs;
    for (const Variable& input : node->inputs()) node_inputs.push_back(cells.at(input));
    for (const Variable& output : node->outputs()) {
      node_outputs.push_back(cells_.emplace_back(make_ref<Cell>()));
      cells.emplace(output, cells_.back());
    }
    std::vector<bool> recyclable(node_outputs.size(), false);
    const ThunkContext context(*node, device, std::move(node_inputs), std::move(node_outputs),
                               std::move(recyclable));
    thunks_.push_back(node->op().make_thunk(context));
  }
  for (const Variable& output : fused_.outputs) results_.push_back(cells.at(output));
}

void SeparateNodes::run() {
  if (thunks_.empty()) make_thunks();
  for (const std::unique_ptr<Thunk>& thunk : thunks_) thunk->run();
  for (std::size_t i = 0; i < outputs.size(); ++i) outputs[i]->value = copy(*results_[i]->value);
  for (const Ref<Cell>& cell : cells_) cell->value.reset();
}

}  // namespace spanwise::ops
