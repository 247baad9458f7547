// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "op_sdk/plugin/plugin_thunk.hpp"

#include <algorithm>

#include "runtime/streams/ordering.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::op_sdk {
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
