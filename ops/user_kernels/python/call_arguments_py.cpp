// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "call_arguments_py.hpp"

#include <algorithm>
#include <complex>
#include <string_view>
#include <utility>
#include <variant>

#include "python/kernels/values.hpp"
#include "python/support/array.hpp"
#include "python/support/call.hpp"
#include "python/support/stream.hpp"
#include "spanwise/runtime/config.hpp"
#include "spanwise/runtime/devices.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/core/device.hpp"

namespace spanwise::python {

namespace py = pybind11;

namespace {

using ops::user_kernels::Argument;

// Reads a Python number, which has no dtype; returns false for other objects.
bool try_read_python_number(PyObject* value, Argument& argument) {
  if (PyFloat_CheckExact(value)) {
    argument.number = Scalar(PyFloat_AS_DOUBLE(value));
  } else if (PyBool_Check(value)) {
    argument.number = Scalar(value == Py_True);
  } else if (PyLong_Check(value)) {
    const KernelArg number = integer_argument(value);
    argument.number = number.scalar();
  } else if (PyComplex_CheckExact(value)) {
    const Py_complex number = PyComplex_AsCComplex(value);
    argument.number = Scalar(std::complex<double>(number.real, number.imag));
  } else {
    return false;
  }
  argument.is_weak = true;
  return true;
}

}  // namespace

KernelCallArguments::KernelCallArguments(const std::string& label, PyObject* const* values,
                                         std::size_t count, std::size_t max_count)
    : label_(label), max_count_(max_count) {
  if (count > max_count)
    fail<KernelArgumentError>(label_, ": expected at most ", max_count, " arguments, got ", count);
  arguments_.make(max_count);
  for (std::size_t i = 0; i < count; ++i) set(i, values[i]);
}

void KernelCallArguments::set(std::size_t index, PyObject* value) {
  Argument& argument = arguments_[index];
  if (is_array(value)) {
    argument.array = &array_in(value);
    return;
  }
  if (value == Py_None || try_read_python_number(value, argument)) return;
  if (const auto number = cached_type_number(value)) {
    argument.number = number->scalar();
    return;
  }
  if (auto by_value = value_from(value)) {
    if (auto* bytes = std::get_if<ValueBytes>(&*by_value)) {
      // Never reallocated, since arguments refer to the elements. Likewise imported_.
      structs_.reserve(ops::user_kernels::max_operands);
      argument.bytes = std::as_bytes(std::span(structs_.emplace_back(std::move(*bytes))));
      return;
    }
    argument.number = std::get<KernelArg>(*by_value).scalar();
    return;
  }
  imported_.reserve(ops::user_kernels::max_operands);
  argument.array = &imported_.emplace_back(import_array(value));
}

Device KernelCallArguments::device() const {
  const Array* array = ops::user_kernels::device_array(all());
  if (array == nullptr) return default_device();
  return runs_on_host(array->device()) ? cpu : array->device();
}

std::int64_t KernelCallArguments::bytes() const noexcept {
  std::int64_t bytes = 0;
  for (const Argument& argument : all())
    if (argument.array != nullptr) bytes = std::max(bytes, argument.array->nbytes());
  return bytes;
}

KernelOutputs::KernelOutputs(const std::string& label, KernelCallArguments& arguments,
                             PyObject* const* values, std::size_t count, std::size_t inputs,
                             std::size_t total, PyObject* out)
    : label_(label), inputs_(inputs), count_(total - inputs) {
  if (count != inputs && count != total) {
    const std::string with_outputs = count_ == 0 ? "" : text(", or ", total, " with the outputs");
    fail<KernelArgumentError>(label, ": expected ", inputs, " arguments", with_outputs, ", got ",
                              count);
  }
  if (given(out) && count != inputs)
    fail<KernelArgumentError>(label,
                              ": outputs were given by position and in out=; use one of them");
  std::copy(values + inputs, values + count, objects_.begin());
  if (given(out)) read_out(out, arguments);
}

void KernelOutputs::read_out(PyObject* out, KernelCallArguments& arguments) {
  const bool is_tuple = PyTuple_Check(out);
  const auto count = is_tuple ? static_cast<std::size_t>(PyTuple_GET_SIZE(out)) : 1;
  if (count != count_)
    fail<KernelArgumentError>(label_, ": expected ", count_, " outputs in out=, got ", count);
  for (std::size_t k = 0; k < count_; ++k) {
    objects_[k] = is_tuple ? PyTuple_GET_ITEM(out, static_cast<Py_ssize_t>(k)) : out;
    arguments.set(inputs_ + k, objects_[k]);
  }
}

PyObject* KernelOutputs::result(bool as_tuple) {
  if (count_ == 1 && !as_tuple) return object_of(0).release().ptr();
  py::tuple all(count_);
  for (std::size_t k = 0; k < count_; ++k) all[k] = object_of(k);
  return all.release().ptr();
}

py::object KernelOutputs::object_of(std::size_t output) {
  if (given(objects_[output])) return py::reinterpret_borrow<py::object>(objects_[output]);
  return owned(wrap(std::move(allocated_[next_allocated_++])));
}

KernelKeywords kernel_keywords(const std::string& label,
                               std::initializer_list<const char*> accepted, PyObject* names,
                               PyObject* const* values) {
  static constexpr std::pair<std::string_view, PyObject * KernelKeywords::*> members[] = {
      {"size", &KernelKeywords::size},     {"out", &KernelKeywords::out},
      {"axis", &KernelKeywords::axis},     {"keepdims", &KernelKeywords::keepdims},
      {"stream", &KernelKeywords::stream}, {"block_size", &KernelKeywords::block_size}};
  KernelKeywords keywords;
  const Py_ssize_t count = names != nullptr ? PyTuple_GET_SIZE(names) : 0;
  for (Py_ssize_t i = 0; i < count; ++i) {
    const std::string keyword = py::str(PyTuple_GET_ITEM(names, i));
    if (keyword == "range" || keyword == "slice")
      fail<ArgumentError>(label, ": ", keyword,
                          "= is not supported; pass slices of the arrays instead, for example "
                          "kernel(x[a:b], z[a:b]), which are views");
    if (std::find(accepted.begin(), accepted.end(), keyword) == accepted.end()) {
      std::string list;
      for (const char* name : accepted) list += text(list.empty() ? "" : ", ", name);
      fail<KernelArgumentError>(label, ": unexpected keyword argument '", keyword, "'; expected ",
                                list, ", and arguments by position");
    }
    for (const auto& [name, member] : members)
      if (name == keyword) keywords.*member = values[i];
  }
  return keywords;
}

bool is_long_call(Device device, std::int64_t bytes) {
  static constinit const config::Flag launch_blocking{"launch_blocking"};
  constexpr std::int64_t small = 1 << 16;
  return !runs_on_host(device) ? launch_blocking.get() : bytes >= small;
}

std::optional<StreamGuard> stream_guard(PyObject* stream, Device device) {
  if (!given(stream)) return std::nullopt;
  return std::optional<StreamGuard>(std::in_place, stream_from(stream, device));
}

}  // namespace spanwise::python
