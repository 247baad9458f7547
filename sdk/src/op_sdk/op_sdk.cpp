// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/op_sdk.hpp"

#include <algorithm>
#include <mutex>
#include <typeinfo>
#include <utility>
#include <vector>

#include "core/string_utils.hpp"
#include "spanwise/core/fork.hpp"

namespace spanwise {
namespace {

struct OpRegistry {
  Mutex mutex;
  std::map<std::string, OpFactoryWithProperties, std::less<>> factories;
};

// Never destroyed: plug-ins and static objects may use it until the process exits.
OpRegistry& registry() {
  static NeverDestroyed<OpRegistry> registry;
  return *registry;
}

}  // namespace

bool register_op(std::string name, OpFactory factory) {
  if (!factory) fail<ArgumentError>("register_op: ", name, " has no factory");
  return register_op(name, [name, make = std::move(factory)](const OpProperties& properties) {
    if (!properties.empty())
      fail<ArgumentError>(name, ": takes no property, got ", properties.begin()->first);
    return make();
  });
}

bool register_op(std::string name, OpFactoryWithProperties factory) {
  OpRegistry& all = registry();
  const std::lock_guard lock(all.mutex);
  if (!factory) fail<ArgumentError>("register_op: ", name, " has no factory");
  const bool is_new = all.factories.emplace(name, std::move(factory)).second;
  if (!is_new)
    fail<ArgumentError>("register_op: an op named ", name,
                        " is registered already; choose another name, such as <yours>.", name);
  return true;
}

Ref<const Op> make_op(std::string_view name, const OpProperties& properties) {
  OpFactoryWithProperties factory;
  {
    OpRegistry& all = registry();
    const std::lock_guard lock(all.mutex);
    const auto entry = all.factories.find(name);
    if (entry != all.factories.end()) factory = entry->second;
  }
  if (!factory) {
    const bool is_of_plugin = name.find('.') != std::string_view::npos;
    fail<ArgumentError>("there is no op named ", name,
                        is_of_plugin ? "; load its library first by load_ops()" : "",
                        "; the registered ops are ", joined(op_names()));
  }
  Ref<const Op> op = factory(properties);
  if (op) op->set_recipe({std::string(name), properties});
  return op;
}

void expect_properties(std::string_view op, const OpProperties& properties,
                       std::initializer_list<std::string_view> known) {
  for (const auto& [name, value] : properties)
    if (std::ranges::find(known, name) == known.end())
      fail<ArgumentError>(op, ": takes no property ", name);
}

std::vector<std::string> op_names() {
  OpRegistry& all = registry();
  const std::lock_guard lock(all.mutex);
  std::vector<std::string> names;
  for (const auto& [name, factory] : all.factories) names.push_back(name);
  return names;
}

namespace {

bool is_host_number(const Variable& input) {
  return input.type().rank() == 0 && (input.value() != nullptr || input.type().device() == cpu);
}

}  // namespace

std::vector<ExtentSource> broadcast_sources(std::span<const Variable> inputs, int from_last) {
  std::vector<ExtentSource> sources;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Shape& shape = inputs[i].type().shape();
    if (shape.size() >= from_last && shape[shape.size() - from_last] != 1)
      sources.push_back({static_cast<int>(i), shape.size() - from_last});
  }
  return sources;
}

void expect_arity(const Op& op, std::span<const Variable> inputs, int count) {
  if (inputs.size() != static_cast<std::size_t>(count))
    fail<GraphError>(op.name(), ": expected ", count, count == 1 ? " input, got " : " inputs, got ",
                     inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (!inputs[i]) fail<GraphError>(op.name(), ": input ", i, " names no variable");
}

void expect_floating(const Op& op, std::span<const Variable> inputs, int i) {
  const Variable& input = inputs[static_cast<std::size_t>(i)];
  if (!input.type().dtype().is_floating())
    fail<DTypeError>(op.name(), ": input ", i, " (", input.label(),
                     "): expected a floating dtype, got ", input.type().dtype());
}

void expect_integer(const Op& op, std::span<const Variable> inputs, int i) {
  const Variable& input = inputs[static_cast<std::size_t>(i)];
  if (!input.type().dtype().is_integer())
    fail<DTypeError>(op.name(), ": input ", i, " (", input.label(),
                     "): expected an integer dtype, got ", input.type().dtype());
  if (input.type().rank() != 0)
    fail<GraphError>(op.name(), ": input ", i, " (", input.label(),
                     "): expected one number, got rank ", input.type().rank());
}

std::optional<Device> common_device(const Op& op, std::span<const Variable> inputs) {
  std::optional<Device> common;
  const bool skips_host_numbers =
      op.takes_host_scalars() && !std::ranges::all_of(inputs, &is_host_number);
  for (const Variable& input : inputs) {
    if (skips_host_numbers && is_host_number(input)) continue;
    const std::optional<Device>& device = input.type().device();
    if (!device || device == common) continue;
    // An input on the CPU is moved to the other inputs' device.
    const bool is_moved = common && *device == cpu;
    if (common && *common != cpu && !is_moved)
      fail<GraphError>(op.name(), ": inputs are on ", common.value_or(cpu), " and on ", *device,
                       "; expected one device beside the host: move one of them with transfer()");
    if (!is_moved) common = device;
  }
  return common;
}

bool are_on_host(const Apply& node, int first) noexcept {
  const auto inputs = std::span(node.inputs()).subspan(static_cast<std::size_t>(first));
  return std::ranges::all_of(inputs,
                             [](const Variable& input) { return input.type().device() == cpu; });
}

Shape broadcast_types(const std::string& op, std::span<const Variable> inputs) {
  std::vector<Shape> shapes;
  for (const Variable& input : inputs) shapes.push_back(input.type().shape());
  try {
    return broadcast_shapes(shapes);
  } catch (const LayoutError& error) {
    fail<LayoutError>(op, ": ", error.what());
  }
}

Ref<Apply> make_apply(const Op& op, std::span<const Variable> inputs, TensorType type) {
  return Apply::make(Ref<const Op>(&op), {inputs.begin(), inputs.end()},
                     {Variable(std::move(type))});
}

bool NamedOp::equals(const Op& other) const {
  if (this == &other) return true;
  return typeid(*this) == typeid(other) && name_ == static_cast<const NamedOp&>(other).name_;
}

std::size_t NamedOp::hash() const { return std::hash<std::string>()(name_); }

const Array& output_array(Cell& cell, const Layout& layout, DType dtype, Device device) {
  if (cell.value) {
    const Array& old = *cell.value;
    if (old.dtype() == dtype && old.shape() == layout.shape && old.strides() == layout.strides &&
        old.device() == device && !old.readonly() && old.storage().use_count() <= 1)
      return old;
    cell.value.reset();  // releases first, so that the allocator may reuse the bytes
  }
  return cell.value.emplace(empty_in(layout, dtype, device));
}

}  // namespace spanwise
