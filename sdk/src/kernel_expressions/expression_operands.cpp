// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "kernel_expressions/expression_operands.hpp"

#include <array>
#include <cmath>
#include <utility>

#include "spanwise/core/device.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/devices.hpp"
#include "spanwise/strided/walk.hpp"

namespace spanwise::kernel_expressions {
namespace {

// A struct of `bytes` bytes.
DType record_dtype(std::int64_t bytes) {
  return DType(DTypeCode::opaque, 8, static_cast<int>(bytes));
}

const char* expected_kind(const Parameter& parameter) {
  switch (parameter.kind) {
    case Parameter::Kind::element:
      return "an array or a number";
    case Parameter::Kind::raw:
      return "an array";
    default:
      return parameter.is_user_type() ? "a struct" : "a number";
  }
}

}  // namespace

const Array* device_array(std::span<const Argument> arguments) noexcept {
  const Array* best = nullptr;
  for (const Argument& argument : arguments) {
    const Array* array = argument.array;
    if (array == nullptr) continue;
    if (best == nullptr ||
        (best->rank() == 0 && (array->rank() > 0 || runs_on_host(best->device()))))
      best = array;
    if (best->rank() > 0) break;
  }
  return best;
}

Operands::Operands(const std::string& label, std::span<const Parameter> parameters,
                   std::span<const Argument> arguments)
    : label_(label), count_(parameters.size()) {
  if (arguments.size() != count_) [[unlikely]]
    fail<KernelArgumentError>(label_, ": expected ", count_, " arguments, got ", arguments.size());
  operands_.make(count_);
  bindings_.make(count_);
  for (std::size_t i = 0; i < count_; ++i) operands_[i].parameter = &parameters[i];
  find_device(arguments);
  for (std::size_t i = 0; i < count_; ++i) {
    const Argument& argument = arguments[i];
    if (argument.array != nullptr)
      take_array(operands_[i], *argument.array);
    else if (argument.is_given())
      take_value(operands_[i], argument);
    else if (!parameters[i].is_output) [[unlikely]]
      fail<KernelArgumentError>(argument_prefix(parameters[i]), "expected ",
                                expected_kind(parameters[i]), ", got nothing");
  }
  convert_numbers(arguments);
}

std::string Operands::argument_prefix(const Parameter& parameter) const {
  return text(label_, ": argument '", parameter.name, "': ");
}

void Operands::find_device(std::span<const Argument> arguments) {
  const Array* array = device_array(arguments);
  output_device_ = working_device(array != nullptr ? array->device() : default_device());
  device_ = runs_on_host(output_device_) ? cpu : output_device_;
}

void Operands::take_array(ConvertedArgument& operand, const Array& array) {
  const Parameter& parameter = *operand.parameter;
  const bool is_on_device = work_together(array.device(), device_);
  if (parameter.kind == Parameter::Kind::number || (!is_on_device && !parameter.is_output)) {
    // An array of rank 0 on the host is passed as a number.
    const bool is_number = array.size() == 1 && array.rank() == 0 && runs_on_host(array.device()) &&
                           parameter.kind != Parameter::Kind::raw;
    if (!is_number && parameter.kind == Parameter::Kind::number)
      refuse(parameter, {.array = &array});
    if (is_number) return take_value(operand, {.number = item(array), .is_weak = false});
  }
  if (!is_on_device) [[unlikely]]
    fail<DeviceError>(argument_prefix(parameter), "is on ", array.device(),
                      " and the kernel runs on ", device_, "; move it with .to(\"", device_, "\")");
  if (parameter.is_output && array.readonly()) [[unlikely]]
    fail<ReadOnlyError>(
        argument_prefix(parameter),
        "the array is read-only and the kernel writes to it; pass a copy, or declare "
        "the parameter const if it is not written to");
  if (parameter.is_user_type()) return take_record(operand, array);
  if (!parameter.type_parameter.empty())
    bind_type(parameter, array.dtype());
  else if (array.dtype() != *parameter.dtype) [[unlikely]]
    fail<DTypeError>(argument_prefix(parameter), "declared ", parameter.type, ", expected dtype ",
                     *parameter.dtype, ", got ", array.dtype(), "; convert with .astype(\"",
                     *parameter.dtype, "\"), or change the declaration");
  operand.array = &array;
  operand.dtype = array.dtype();
}

// Arrays of structs, or of bytes whose last axis is one struct.
void Operands::take_record(ConvertedArgument& operand, const Array& array) {
  const Parameter& parameter = *operand.parameter;
  const DType dtype = array.dtype();
  operand.dtype = dtype;
  if (dtype.lanes() > 1 || dtype.code() == DTypeCode::opaque) {
    operand.array = &array;
    return;
  }
  const Layout& layout = array.layout();
  const int last = layout.rank() - 1;
  const bool is_packed =
      last >= 0 && layout.shape[last] > 0 && (layout.strides[last] == 1 || layout.shape[last] == 1);
  if (!is_packed) [[unlikely]]
    fail<KernelArgumentError>(argument_prefix(parameter), "declared ", parameter.type,
                              ", expected an array whose last axis holds the bytes of one ",
                              parameter.type, " contiguously, got ", array,
                              "; pass x.view(\"uint8\").reshape(n, itemsize)");
  const std::int64_t items = layout.shape[last];
  Layout records{Shape(last), Strides(last), 0};
  bool fits = layout.offset % items == 0;
  records.offset = layout.offset / items;
  for (int axis = 0; axis < last; ++axis) {
    fits &= layout.strides[axis] % items == 0 || layout.shape[axis] <= 1;
    records.shape[axis] = layout.shape[axis];
    records.strides[axis] = layout.strides[axis] / items;
  }
  if (!(fits && items * dtype.itemsize() <= UINT16_MAX)) [[unlikely]]
    fail<KernelArgumentError>(argument_prefix(parameter), "the structs of ", array,
                              " have strides that are not multiples of their size; pass a copy");
  const auto index = static_cast<std::size_t>(&operand - operands_.data());
  keep(index, Array(array.storage(), std::move(records), record_dtype(items * dtype.itemsize())));
  operand.dtype = operand.array->dtype();
}

const Array& Operands::keep(std::size_t i, Array array) {
  if (created_.capacity() == 0)
    created_.reserve(2 * count_);  // no reallocation: operands point to elements
  created_.push_back(std::move(array));
  operands_[i].array = &created_.back();
  operands_[i].dtype = created_.back().dtype();
  return created_.back();
}

std::optional<Shape> Operands::broadcast_shape(bool with_outputs) const {
  std::array<const Array*, max_operands> arrays;
  std::size_t count = 0;
  for (const ConvertedArgument& operand : all())
    if (with_outputs ? operand.is_element() : operand.is_input_element())
      arrays[count++] = operand.array;
  if (count == 0) return {};
  try {
    return spanwise::broadcast_shape(std::span(arrays.data(), count));
  } catch (const LayoutError& error) {
    fail<LayoutError>(label_, ": ", error.what());
  }
}

void Operands::check_output(std::size_t i, const Shape& shape) const {
  const ConvertedArgument& output = operands_[i];
  if (!output.is_raw() && output.array->shape() != shape)
    fail<LayoutError>(label_, ": '", output.parameter->name, "': expected an output of shape ",
                      shape, ", got ", output.array->shape(), "; pass an array of that shape");
  const Layout& layout = output.array->layout();
  if (!layout.is_row_major() && layout.may_overlap_itself())
    fail<LayoutError>(label_, ": output '", output.parameter->name,
                      "' has several elements at one address: ", *output.array, "; pass a copy");
}

void Operands::separate_from(std::size_t i, bool allows_same_view) {
  const ConvertedArgument& output = operands_[i];
  for (std::size_t k = 0; k < count_; ++k) {
    const ConvertedArgument& operand = operands_[k];
    if (k == i || operand.array == nullptr || !may_share_memory(*operand.array, *output.array))
      continue;
    const bool is_same = allows_same_view && is_same_view(*operand.array, *output.array);
    if (!operand.parameter->is_output) {
      if (!is_same || operand.parameter->needs_whole_array) keep(k, copy(*operand.array));
    } else if (k > i &&
               (!is_same || (output.parameter->is_assigned && operand.parameter->is_assigned))) {
      fail<LayoutError>(label_, ": outputs '", output.parameter->name, "' and '",
                        operand.parameter->name, "' share memory; pass separate arrays");
    }
  }
}

void Operands::take_value(ConvertedArgument& operand, const Argument& argument) {
  const Parameter& parameter = *operand.parameter;
  if (parameter.kind == Parameter::Kind::raw || parameter.is_output) refuse(parameter, argument);
  if (parameter.is_user_type()) {
    if (argument.bytes.empty()) refuse(parameter, argument);
    operand.bytes = argument.bytes;
    return;
  }
  if (!argument.number) refuse(parameter, argument);
  operand.number = *argument.number;
  if (!parameter.type_parameter.empty() && !argument.is_weak)
    bind_type(parameter, argument.number->dtype());
}

void Operands::bind_type(const Parameter& parameter, DType dtype) {
  for (std::size_t k = 0; k < binding_count_; ++k) {
    const TypeBinding& binding = bindings_[k];
    if (binding.name != parameter.type_parameter[0]) continue;
    if (binding.dtype != dtype) [[unlikely]]
      fail<DTypeError>(argument_prefix(parameter), parameter.type_parameter, " is ", dtype,
                       " here and ", binding.dtype, " in argument '", binding.source->name,
                       "', expected one dtype; convert one with .astype(), or declare two "
                       "letters");
    return;
  }
  if (!dtype.is_computable()) [[unlikely]]
    fail<DTypeError>(argument_prefix(parameter), "dtype ", dtype,
                     " cannot be computed on; convert with .astype()");
  bindings_[binding_count_++] = {parameter.type_parameter[0], dtype, &parameter};
}

DType Operands::dtype_of(const Parameter& parameter) const {
  if (parameter.dtype) return *parameter.dtype;
  for (std::size_t k = 0; k < binding_count_; ++k)
    if (!parameter.type_parameter.empty() && bindings_[k].name == parameter.type_parameter[0])
      return bindings_[k].dtype;
  fail<DTypeError>(argument_prefix(parameter), "no argument determines what ",
                   parameter.type_parameter.empty() ? parameter.type : parameter.type_parameter,
                   " is; pass an array for it");
}

// Python numbers take the dtype that arrays determine for a type parameter, and determine it
// themselves only if no array does.
void Operands::convert_numbers(std::span<const Argument> arguments) {
  for (std::size_t i = 0; i < count_; ++i) {
    ConvertedArgument& operand = operands_[i];
    const Parameter& parameter = *operand.parameter;
    if (operand.array != nullptr || parameter.is_user_type() || !arguments[i].is_given()) continue;
    if (!parameter.type_parameter.empty() && arguments[i].is_weak) {
      bool is_bound = false;
      for (std::size_t k = 0; k < binding_count_; ++k)
        is_bound |= bindings_[k].name == parameter.type_parameter[0];
      if (!is_bound) bind_type(parameter, operand.number.dtype());
    }
    operand.dtype = dtype_of(parameter);
    if (operand.number.dtype() != operand.dtype)
      operand.number = converted_number(label_, parameter, operand.number, operand.dtype);
  }
}

void Operands::refuse(const Parameter& parameter, const Argument& argument) const {
  const std::string got = argument.array != nullptr ? text(*argument.array)
                          : argument.number         ? text("the number ", *argument.number)
                                            : text("a struct of ", argument.bytes.size(), " bytes");
  const char* remedy = parameter.is_output ? "pass an array, which the kernel writes to"
                       : parameter.kind == Parameter::Kind::number
                           ? "pass a number, or declare the argument as an array"
                           : "pass an array, or declare the argument as a number";
  fail<KernelArgumentError>(argument_prefix(parameter), "expected ", expected_kind(parameter),
                            ", got ", got, "; ", remedy);
}

Scalar converted_number(const std::string& label, const Parameter& parameter, const Scalar& number,
                        DType dtype) {
  const DType from = number.dtype();
  const bool is_whole = from.is_bool() || from.is_integer();
  const bool to_real = dtype.is_floating() || dtype.is_complex();
  bool is_lossless = is_whole ? to_real || number.fits(dtype)
                              : to_real && (!from.is_complex() || dtype.is_complex());
  if (is_lossless && !is_whole && !from.is_complex())
    is_lossless =
        !std::isfinite(number.as_double()) || std::isfinite(number.cast(dtype).as_double());
  if (!is_lossless) [[unlikely]]
    fail<KernelArgumentError>(label, ": argument '", parameter.name, "': the number ", number, " (",
                              from, ") cannot be passed as ", dtype,
                              " without loss; convert it, or declare another type");
  return number.cast(dtype);
}

}  // namespace spanwise::kernel_expressions
