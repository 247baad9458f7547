// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "op_sdk/plugin/plugin_op.hpp"

#include <algorithm>

#include "op_sdk/plugin/plugin_thunk.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::op_sdk {
namespace {

std::vector<Variable> outputs_of(const InferredTypes& types, const std::string& op,
                                 const std::optional<Device>& device) {
  std::vector<Variable> outputs;
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (!types[i].has_value())
      fail<GraphError>(op, ": infer set no type for output ", i,
                       "; expected a call of set_output_type for each");
    outputs.emplace_back(TensorType(types[i]->dtype(), types[i]->shape(), device));
  }
  return outputs;
}

}  // namespace

std::vector<sw_type> plugin_types(std::span<const Variable> variables) {
  std::vector<sw_type> types;
  for (const Variable& variable : variables) {
    const TensorType& type = variable.type();
    types.push_back({plugin_dtype(type.dtype()), type.rank(), type.shape().data()});
  }
  return types;
}

PluginOp::PluginOp(Ref<const PluginInstance> instance, int overwritten)
    : instance_(std::move(instance)), overwritten_(overwritten), name_(instance_->name()) {
  // The notation of the library's own ops for "output 0 overwrites input i".
  if (overwritten_ != overwrites_nothing) name_ += text("[(0, ", overwritten_, ")]");
}

Ref<Apply> PluginOp::make_node(std::span<const Variable> inputs) const {
  const PluginOpTable& table = instance_->table();
  const int min_inputs = table.functions.input_count, count = static_cast<int>(inputs.size());
  if (table.has(SW_MORE_INPUTS) && count < min_inputs)
    fail<GraphError>(name_, ": expected at least ", min_inputs,
                     min_inputs == 1 ? " input, got " : " inputs, got ", count);
  expect_arity(*this, inputs, table.has(SW_MORE_INPUTS) ? count : min_inputs);

  const std::vector<sw_type> types = plugin_types(inputs);
  InferredTypes inferred(static_cast<std::size_t>(table.functions.output_count));
  sw_call call(name_);
  call.inferred = &inferred;
  const sw_infer infer{sizeof(sw_infer), count, &call, types.data()};
  call_plugin(call, table.functions.infer, instance_->op(), &infer);
  return Apply::make(Ref<const Op>(this), {inputs.begin(), inputs.end()},
                     outputs_of(inferred, name_, output_device(inputs)));
}

// The device for the output types; specified for an op that runs on one kind of device only, so
// that its inputs are moved there.
std::optional<Device> PluginOp::output_device(std::span<const Variable> inputs) const {
  const std::optional<Device> common = common_device(*this, inputs);
  const PluginOpTable& table = instance_->table();
  if (!table.has(SW_ON_GPU)) return common && common->is_cpu() ? *common : cpu;
  if (!table.has(SW_ON_CPU) && common && common->is_cpu()) return std::nullopt;
  return common;
}

std::unique_ptr<Thunk> PluginOp::make_thunk(const ThunkContext& context) const {
  const Device device = context.device();
  if (!instance_->table().has(device.is_cpu() ? SW_ON_CPU : SW_ON_GPU))
    fail<DeviceError>(name_, ": runs on ", device.is_cpu() ? "GPUs" : "the CPU",
                      " only, and was to run on ", device,
                      "; compile the function for another device");
  return std::make_unique<PluginThunk>(Ref<const PluginOp>(this), context);
}

bool PluginOp::equals(const Op& other) const {
  if (this == &other) return true;
  const auto* op = dynamic_cast<const PluginOp*>(&other);
  return op != nullptr && &op->instance_->table() == &instance_->table() &&
         !instance_->table().has(SW_NOT_PURE) && op->overwritten_ == overwritten_ &&
         op->instance_->values() == instance_->values();
}

std::size_t PluginOp::hash() const { return std::hash<std::string>()(name_); }

AliasMap PluginOp::destroy_map() const {
  AliasMap map = instance_->table().overwrites;
  if (overwritten_ != overwrites_nothing) map[0].push_back(overwritten_);
  return map;
}

Ref<const Op> PluginOp::overwriting(int input) const {
  const std::vector<int>& reusable = instance_->table().reusable_inputs;
  if (std::ranges::find(reusable, input) == reusable.end()) return {};
  return make_ref<const PluginOp>(instance_, input);
}

}  // namespace spanwise::op_sdk
