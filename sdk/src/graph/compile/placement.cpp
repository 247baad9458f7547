// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/compile/placement.hpp"

#include <unordered_map>
#include <utility>

#include "graph/rebuild.hpp"
#include "spanwise/graph/op.hpp"

namespace spanwise::graph {
namespace {

class Placement {
 public:
  Placement(const VariableSet& inputs, Device fallback) : inputs_(inputs), fallback_(fallback) {}

  void visit(const Apply& node) {
    std::vector<Variable> inputs = rebuild_.current(node.inputs());
    if (const auto target = transfer_target(node.op())) {
      if (device(inputs[0]) == *target)
        rebuild_.replace(node.output(0), inputs[0]);
      else
        rebuild_.visit_as_is(node, std::move(inputs));
      return;
    }
    const Device target = device_of(node, fallback_);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const bool is_read = !node.op().reads_only_shape(static_cast<int>(i));
      if (is_read && !may_stay(node, inputs[i])) inputs[i] = moved_to(target, inputs[i]);
    }
    rebuild_.visit_as_is(node, std::move(inputs));
  }

  // `variable` on device `target`, with one transfer shared by all readers there.
  Variable moved_to(Device target, const Variable& variable) {
    if (device(variable) == target) return variable;
    auto& copies = moved_[variable];
    for (const auto& [device, copy] : copies)
      if (device == target) return copy;
    const Variable copy = (*transfer_op(target))(std::span(&variable, 1))[0];
    copies.emplace_back(target, copy);
    return copy;
  }

  const Variable& current(const Variable& variable) const { return rebuild_.current(variable); }

 private:
  Device device(const Variable& variable) const { return device_of(variable, inputs_, fallback_); }
  bool may_stay(const Apply& node, const Variable& input) const {
    return input.type().rank() == 0 && device(input) == cpu && node.op().takes_host_scalars();
  }

  const VariableSet& inputs_;
  Device fallback_;
  Rebuild rebuild_;
  std::unordered_map<Variable, std::vector<std::pair<Device, Variable>>> moved_;
};

}  // namespace

Device device_of(const Apply& node, Device fallback) {
  std::optional<Device> fixed;
  for (int i = 0; i < node.output_count(); ++i) {
    const std::optional<Device>& device = node.output(i).type().device();
    if (!device || (fixed && *fixed != *device)) return fallback;
    fixed = device;
  }
  return fixed.value_or(fallback);
}

Device device_of(const Variable& variable, const VariableSet& inputs, Device fallback) {
  if (const auto& device = variable.type().device()) return *device;
  if (variable.owner() == nullptr || inputs.contains(variable)) return fallback;
  return device_of(*variable.owner(), fallback);
}

std::vector<Variable> placed(std::span<const Variable> outputs, const VariableSet& inputs,
                             Device fallback, std::span<const std::optional<Device>> targets) {
  Placement placement(inputs, fallback);
  for (const Ref<Apply>& node : nodes_for(outputs, inputs)) placement.visit(*node);
  std::vector<Variable> result;
  result.reserve(outputs.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Variable& output = placement.current(outputs[i]);
    result.push_back(targets[i] ? placement.moved_to(*targets[i], output) : output);
  }
  return result;
}

}  // namespace spanwise::graph
