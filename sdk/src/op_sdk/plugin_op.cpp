// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "op_sdk/plugin_op.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <type_traits>

#include "core/string_utils.hpp"
#include "runtime/stream_order.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/op_sdk/expression.hpp"
#include "spanwise/runtime/copy.hpp"

namespace spanwise::op_sdk {
namespace {

const char* kind_name(const OpProperty& property) {
  constexpr const char* names[] = {"a bool", "an integer", "a number", "a string",
                                   "a list of integers"};
  return names[property.index()];
}

std::string property_text(const OpProperty& property) {
  return std::visit(
      [](const auto& value) -> std::string {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, bool>) {
          return value ? "True" : "False";
        } else if constexpr (std::is_same_v<T, std::string>) {
          return text('\'', value, '\'');
        } else if constexpr (std::is_same_v<T, std::vector<std::int64_t>>) {
          return text('[', joined(value), ']');
        } else {
          return text(value);
        }
      },
      property);
}

// Converts to the declared type: only integers are converted, to reals.
OpProperty converted(const OpProperty& value, const PluginProperty& declared,
                     const std::string& op) {
  if (value.index() == declared.value.index()) return value;
  const auto* integer = std::get_if<std::int64_t>(&value);
  if (integer != nullptr && std::holds_alternative<double>(declared.value))
    return static_cast<double>(*integer);
  fail<ArgumentError>(op, ": property ", declared.name, ": expected ", kind_name(declared.value),
                      ", got ", property_text(value));
}

// The values of all properties of the table: those in `properties`, else the defaults.
std::vector<OpProperty> all_values(const PluginOpTable& table, const OpProperties& properties) {
  const auto& declared_properties = table.properties;
  for (const auto& [name, value] : properties)
    if (std::ranges::find(declared_properties, name, &PluginProperty::name) ==
        declared_properties.end())
      fail<ArgumentError>(table.name, ": has no property ", name,
                          declared_properties.empty() ? "; it takes none" : "; its properties are ",
                          joined(declared_properties, ", ", &PluginProperty::name));
  std::vector<OpProperty> values;
  for (const PluginProperty& declared : declared_properties) {
    const auto entry = properties.find(declared.name);
    if (entry == properties.end() && declared.required)
      fail<ArgumentError>(table.name, ": expected a property ", declared.name, ", ",
                          kind_name(declared.value), ": give it by keyword");
    values.push_back(entry == properties.end() ? declared.value
                                               : converted(entry->second, declared, table.name));
  }
  return values;
}

// `property` as a C struct, which points into it.
sw_value value_of(const OpProperty& property) {
  sw_value value{static_cast<std::int32_t>(property.index()) + SW_BOOL, 0, {}};
  if (const auto* flag = std::get_if<bool>(&property)) value.as.integer = *flag;
  if (const auto* integer = std::get_if<std::int64_t>(&property)) value.as.integer = *integer;
  if (const auto* real = std::get_if<double>(&property)) value.as.real = *real;
  if (const auto* string = std::get_if<std::string>(&property)) value.as.text = string->c_str();
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&property)) {
    value.count = static_cast<std::int32_t>(list->size());
    value.as.integers = list->data();
  }
  return value;
}

std::string full_name(const PluginOpTable& table, const std::vector<OpProperty>& values) {
  std::string list;
  for (std::size_t i = 0; i < values.size(); ++i)
    list += text(list.empty() ? "" : ", ", table.properties[i].name, "=", property_text(values[i]));
  return list.empty() ? table.name : text(table.name, "{", list, "}");
}

}  // namespace

PluginInstance::PluginInstance(const PluginOpTable& table, const OpProperties& properties)
    : table_(table),
      values_(all_values(table, properties)),
      name_(full_name(table, values_)),
      op_(table.functions.user_data) {
  if (functions().create == nullptr) return;
  std::vector<sw_value> values;
  values.reserve(values_.size());
  for (const OpProperty& value : values_) values.push_back(value_of(value));
  sw_call call(name_);
  const sw_create create{sizeof(sw_create), static_cast<std::int32_t>(values.size()), &call,
                         values.data()};
  call_plugin(call, functions().create, functions().user_data, &create, &op_);
}

PluginInstance::~PluginInstance() {
  if (functions().destroy != nullptr) functions().destroy(op_);
}

// sw_op.element_body, as the graph uses it.

namespace {

// `value` as an expression in C, with all digits of a double.
std::string real_text(double value) {
  if (std::isnan(value)) return "(0.0 / 0.0)";
  if (std::isinf(value)) return value > 0 ? "(1.0 / 0.0)" : "(-1.0 / 0.0)";
  char digits[64];
  std::snprintf(digits, sizeof digits, "%.17e", value);
  return digits;
}

// The definition of a property that is a number; "" for others.
std::string constant_text(const std::string& name, const OpProperty& value) {
  if (const auto* flag = std::get_if<bool>(&value))
    return text("const bool ", name, " = ", *flag ? "true" : "false", ";");
  if (const auto* integer = std::get_if<std::int64_t>(&value))
    return text("const long long ", name, " = ", *integer, "ll;");
  if (const auto* real = std::get_if<double>(&value))
    return text("const double ", name, " = ", real_text(*real), ";");
  return "";
}

}  // namespace

std::shared_ptr<const ElementBody> PluginOp::element_body(const Apply& node) const {
  const PluginOpTable& table = instance_->table();
  if (table.element_names.empty()) return nullptr;
  auto body = std::make_shared<ElementBody>();
  body->op = table.name;
  for (std::size_t i = 0; i < table.properties.size(); ++i)
    body->operation += constant_text(table.properties[i].name, instance_->values()[i]);
  body->operation += table.functions.element_body;
  auto name = table.element_names.begin();
  for (const Variable& input : node.inputs())
    body->inputs.push_back({*name++, input.type().dtype()});
  for (const Variable& output : node.outputs())
    body->outputs.push_back({*name++, output.type().dtype()});
  return body;
}

// sw_op.gradient_op, as the graph uses it.

namespace {

Variable derivative_or_zeros(const Apply& node, std::span<const Cotangent> outputs, int i) {
  const Cotangent& output = outputs[static_cast<std::size_t>(i)];
  return output.has_variable() ? output.variable() : expression::zeros_like(node.output(i));
}

std::vector<Variable> gradient_inputs(const PluginGradient& gradient, const Apply& node,
                                      std::span<const Cotangent> outputs) {
  std::vector<Variable> inputs;
  if (gradient.inputs) {
    for (const sw_gradient_input& input : *gradient.inputs)
      inputs.push_back(
          input.kind == SW_FROM_INPUT    ? node.inputs()[static_cast<std::size_t>(input.index)]
          : input.kind == SW_FROM_OUTPUT ? node.output(input.index)
                                         : derivative_or_zeros(node, outputs, input.index));
    return inputs;
  }
  inputs.assign(node.inputs().begin(), node.inputs().end());
  for (const Variable& output : node.outputs()) inputs.push_back(output);
  for (int i = 0; i < node.output_count(); ++i)
    inputs.push_back(derivative_or_zeros(node, outputs, i));
  return inputs;
}

}  // namespace

std::vector<Cotangent> PluginOp::gradient(const Apply& node,
                                          std::span<const Cotangent> outputs) const {
  const PluginOpTable& table = instance_->table();
  std::vector<Cotangent> derivatives(
      node.inputs().size(),
      Cotangent::undefined(table.gradient ? "the op that computes its derivatives leaves it out"
                                          : "its library declares no gradient (OpInfo::gradient "
                                            "in C++, sw_op.gradient_op in C)"));
  if (!table.gradient) return derivatives;
  OpProperties properties;
  for (std::size_t i = 0; i < table.properties.size(); ++i) {
    const std::string& name = table.properties[i].name;
    const auto& passed = table.gradient->properties;
    if (std::ranges::find(passed, name) != passed.end())
      properties.emplace(name, instance_->values()[i]);
  }
  const std::vector<Variable> result =
      (*make_op(table.gradient->op, properties))(gradient_inputs(*table.gradient, node, outputs));
  for (std::size_t i = 0; i < result.size(); ++i)
    derivatives[static_cast<std::size_t>(table.gradient->wrt[i])] = Cotangent(result[i]);
  return derivatives;
}

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

sw_dtype plugin_dtype(DType dtype) noexcept {
  return {static_cast<std::uint8_t>(dtype.code()), static_cast<std::uint8_t>(dtype.bits()),
          static_cast<std::uint16_t>(dtype.lanes())};
}

// The types of `variables` as C structs, which point into the variables.
std::vector<sw_type> plugin_types(std::span<const Variable> variables) {
  std::vector<sw_type> types;
  for (const Variable& variable : variables) {
    const TensorType& type = variable.type();
    types.push_back({plugin_dtype(type.dtype()), type.rank(), type.shape().data()});
  }
  return types;
}

}  // namespace

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

std::optional<InputCondition> PluginOp::needed_if(int input) const {
  const auto& conditions = instance_->table().needed_if;
  const auto condition = conditions.find(input);
  if (condition == conditions.end()) return std::nullopt;
  return condition->second;
}

namespace {

sw_device plugin_device(Device device) noexcept {
  return {static_cast<std::int32_t>(device.kind()), device.ordinal()};
}

void describe(const Array& array, sw_array& result) noexcept {
  result.data = array.data();
  result.shape = array.shape().data();
  result.strides = array.strides().data();
  result.dtype = plugin_dtype(array.dtype());
  result.rank = array.rank();
  result.device = plugin_device(array.device());
}

bool maps(const AliasMap& map, int output, int input) {
  const auto entry = map.find(output);
  return entry != map.end() && std::ranges::find(entry->second, input) != entry->second.end();
}

bool overwrites_input(const AliasMap& map, int input) {
  return std::ranges::any_of(map, [&](const auto& entry) { return maps(map, entry.first, input); });
}

}  // namespace

PluginThunk::PluginThunk(Ref<const PluginOp> op, const ThunkContext& context)
    : op_(std::move(op)),
      name_(op_->name()),
      functions_(op_->instance().functions()),
      device_(context.device()),
      call_(name_) {
  const Apply& node = context.node();
  for (int i = 0; i < static_cast<int>(node.inputs().size()); ++i)
    inputs_.push_back({context.input(i), overwrites_input(op_->instance().table().overwrites, i)});
  for (int i = 0; i < node.output_count(); ++i)
    outputs_.push_back({context.output(i), node.output(i).type().dtype()});
  c_inputs_.resize(inputs_.size());
  c_outputs_.resize(outputs_.size());
  run_ = {sizeof(sw_run), static_cast<std::int32_t>(inputs_.size()),
          &call_,         c_inputs_.data(),
          nullptr,        plugin_device(device_),
          nullptr,        nullptr};
  // One extra element: a non-empty vector marks the thunk as lazy, also without inputs.
  if (op_->instance().table().has(SW_LAZY)) {
    computed_.resize(inputs_.size() + 1);
    run_.computed = computed_.data();
  }
  call_.device = device_;
  bind(context);
  call_.run = this;
}

PluginThunk::~PluginThunk() {
  if (functions_.unbind != nullptr) functions_.unbind(run_.state);
}

void PluginThunk::bind(const ThunkContext& context) {
  if (functions_.bind == nullptr) return;
  const std::vector<sw_type> types = plugin_types(context.node().inputs());
  const sw_bind bind{sizeof(sw_bind), static_cast<std::int32_t>(types.size()), &call_, types.data(),
                     run_.device};
  call_plugin(call_, functions_.bind, op_->instance().op(), &bind, &run_.state);
}

std::vector<int> PluginThunk::run() {
  scratch_.clear();  // left by a failed call
  if (!device_.is_cpu()) {
    stream_ = &runtime::current_stream(device_);
    // The driver's handles are pointers in C.
    run_.stream = reinterpret_cast<void*>(stream_->handle());
  }
  if (lazy()) [[unlikely]]
    return run_lazily();
  for (std::size_t i = 0; i < inputs_.size(); ++i) load_input(i);
  call_run();
  return {};
}

void PluginThunk::call_run() {
  const sw_run run = run_;  // a copy, so that the plug-in cannot modify run_
  call_plugin(call_, functions_.run, op_->instance().op(), &run);
  scratch_.clear();
}

// Cells of inputs that are not computed may hold values of an earlier call.
std::vector<int> PluginThunk::run_lazily() {
  needed_.clear();
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    computed_[i] = inputs_[i].cell->computed;
    inputs_[i].array = nullptr;
    if (computed_[i] != 0)
      load_input(i);
    else
      c_inputs_[i] = {};
  }
  for (Output& output : outputs_) output.is_set = false;
  call_run();
  if (!needed_.empty()) return needed_;
  for (Output& output : outputs_) output.cell->computed = output.is_set;
  return {};
}

void PluginThunk::need_input(int input) {
  const std::size_t i = checked_index(input, inputs_.size(), "input");
  if (!lazy())
    fail<GraphError>(name_, ": requests input ", input,
                     ", and all are computed; set SW_LAZY in flags");
  if (computed_[i] == 0) needed_.push_back(input);
}

// CPU work needs no ordering, except after a GPU stream has used the memory.
void PluginThunk::order(const Array& array, bool writes) const {
  const Storage& storage = array.storage();
  if (device_.is_cpu() && (!storage || storage.uses().none())) return;
  runtime::order_use(stream_ != nullptr ? *stream_ : runtime::current_stream(device_), storage,
                     writes);
}

void PluginThunk::load_input(std::size_t i) {
  Input& input = inputs_[i];
  input.array = &*input.cell->value;
  if (input.array->device() != device_) [[unlikely]]
    input.array = &input.copied.emplace(to_device(*input.array, device_));
  if (input.overwritten && input.array->readonly()) [[unlikely]]
    input.array = &input.copied.emplace(copy(*input.array));
  order(*input.array, input.overwritten);
  describe(*input.array, c_inputs_[i]);
}

std::size_t PluginThunk::checked_index(int index, std::size_t count, const char* list) const {
  if (index < 0 || static_cast<std::size_t>(index) >= count)
    fail<GraphError>(name_, ": names ", list, " ", index, "; expected 0 to ", count - 1);
  return static_cast<std::size_t>(index);
}

const sw_array* PluginThunk::finish_output(std::size_t output) {
  const Array& array = *outputs_[output].cell->value;
  outputs_[output].is_set = true;
  order(array, true);
  describe(array, c_outputs_[output]);
  return &c_outputs_[output];
}

const Array* PluginThunk::reusable_input(const Shape& shape, DType dtype) const {
  if (op_->overwritten() == PluginOp::overwrites_nothing) return nullptr;
  const Array& input = *inputs_[static_cast<std::size_t>(op_->overwritten())].array;
  const bool is_usable = input.shape() == shape && input.dtype() == dtype && !input.readonly() &&
                         input.layout().is_row_major();
  return is_usable ? &input : nullptr;
}

const sw_array* PluginThunk::new_output(int output, const Shape& shape) {
  const std::size_t i = checked_index(output, outputs_.size(), "output");
  Cell& cell = *outputs_[i].cell;
  if (const Array* input = reusable_input(shape, outputs_[i].dtype))
    cell.value = *input;
  else
    output_array(cell, shape, outputs_[i].dtype, device_);
  return finish_output(i);
}

const sw_array* PluginThunk::output_from_input(int output, int input,
                                               std::optional<Layout> window) {
  const std::size_t i = checked_index(output, outputs_.size(), "output");
  const std::size_t k = checked_index(input, inputs_.size(), "input");
  const PluginOpTable& table = op_->instance().table();
  if (!maps(table.views, output, input) && !maps(table.overwrites, output, input))
    fail<GraphError>(name_, ": output ", output, " was to share the memory of input ", input,
                     "; declare it in views or overwrites");
  const Array& array = *inputs_[k].array;
  if (window) window->offset += array.layout().offset;
  outputs_[i].cell->value = window ? array.with_layout(*std::move(window)) : array;
  return finish_output(i);
}

const sw_array* PluginThunk::scratch(DType dtype, const Shape& shape) {
  scratch_.push_back(std::make_unique<Scratch>(empty(shape, dtype, device_)));
  Scratch& result = *scratch_.back();
  order(result.array, true);
  describe(result.array, result.c_array);
  return &result.c_array;
}

const Array& PluginThunk::array_of(const sw_array* array) const {
  for (std::size_t i = 0; i < inputs_.size(); ++i)
    if (array == &c_inputs_[i] && inputs_[i].array != nullptr) return *inputs_[i].array;
  for (std::size_t i = 0; i < outputs_.size(); ++i)
    if (array == &c_outputs_[i] && outputs_[i].cell->value) return *outputs_[i].cell->value;
  for (const auto& result : scratch_)
    if (array == &result->c_array) return result->array;
  fail<ArgumentError>(name_,
                      ": a kernel's argument is an array that this call did not give; expected the "
                      "address of one of run->inputs or the result of new_output or scratch");
}

}  // namespace spanwise::op_sdk
