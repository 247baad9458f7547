// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "arguments.hpp"

#include <new>
#include <string>
#include <type_traits>

#include "python/interop/foreign_operands.hpp"
#include "spanwise/python/bridge_kit.hpp"
#include "python/support/array.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::python {

namespace py = pybind11;

// The elements of inline_arguments_ are constructed by placement new and not destroyed.
static_assert(std::is_trivially_destructible_v<KernelArg>);

namespace {

// Containers that sw.asarray() would copy: what the kernel writes to the copy would be lost.
bool is_plain_container(PyObject* object) {
  return PyList_Check(object) || PyTuple_Check(object) || PyUnicode_Check(object) ||
         PyDict_Check(object) || PyAnySet_Check(object);
}

}  // namespace

PackedArguments::PackedArguments(const Kernel& kernel, PyObject* const* values, std::size_t count)
    : kernel_(kernel), count_(count), arguments_(reinterpret_cast<KernelArg*>(inline_arguments_)) {
  if (count > inline_count) [[unlikely]] {
    heap_arguments_.resize(count, KernelArg(nullptr));
    arguments_ = heap_arguments_.data();
  }
  for (std::size_t i = 0; i < count; ++i)
    new (arguments_ + i) KernelArg(argument_from(i, values[i]));
}

KernelArg PackedArguments::argument_from(std::size_t index, PyObject* object) {
  if (Py_TYPE(object) == array_type) [[likely]]
    return array_in(object);
  if (PyFloat_CheckExact(object)) return KernelArg::real(PyFloat_AS_DOUBLE(object));
  if (object == Py_None) return nullptr;  // a null pointer
  try {
    return argument_of_rarer_type(index, object);
  } catch (...) {
    rethrow_for_argument(index);
  }
}

KernelArg PackedArguments::argument_of_rarer_type(std::size_t index, PyObject* object) {
  if (PyLong_CheckExact(object)) return integer_argument(object);
  if (const auto number = cached_type_number(object)) return *number;
  if (is_array(object)) return array_in(object);
  if (PyBool_Check(object)) return Scalar(object == Py_True);
  if (const PyWrapped* wrapped = wrapped_in(object)) return wrapped_argument(index, *wrapped);
  if (auto value = value_from(object)) {
    if (const auto* argument = std::get_if<KernelArg>(&*value)) return *argument;
    if (structs_.capacity() == 0) structs_.reserve(count_);
    const ValueBytes& bytes = structs_.emplace_back(std::get<ValueBytes>(std::move(*value)));
    return KernelArg::bytes(std::as_bytes(std::span(bytes)));
  }
  if (PyFloat_Check(object)) return KernelArg::real(PyFloat_AS_DOUBLE(object));
  if (PyLong_Check(object)) return integer_argument(object);
  return foreign_array(object);
}

KernelArg PackedArguments::wrapped_argument(std::size_t index, const PyWrapped& wrapped) {
  if (wrapped.kind == WrappedKind::memory) {
    if (wrapped.array == nullptr || !is_array(wrapped.array))
      fail<KernelArgumentError>("expected memory of a device, got an allocation that was freed");
    return KernelArg::memory(array_in(wrapped.array));
  }
  const auto parameters = kernel_.parameters();
  const bool only_reads = index < parameters.size() && parameters[index].is_const;
  if (host_arguments_.capacity() == 0) host_arguments_.reserve(count_);
  return host_arguments_.emplace_back(wrapped, kernel_.device(), only_reads).on_device();
}

KernelArg PackedArguments::foreign_array(PyObject* object) {
  if (is_plain_container(object))
    fail<KernelArgumentError>("expected an array or a number, got a ", Py_TYPE(object)->tp_name,
                              ". Remedy: make an array of it, sw.array(x)");
  if (foreign_arrays_.capacity() == 0) foreign_arrays_.reserve(count_);
  try {
    return foreign_arrays_.emplace_back(import_array(object, {.copy = CopyMode::never}));
  } catch (const BridgeError&) {
    // Allocations of PyCUDA and others are no arrays, but have __index__: their address.
    if (!PyIndex_Check(object) || is_lazy(object)) throw;
    return integer_argument(owned(PyNumber_Index(object)).ptr());
  }
}

void PackedArguments::rethrow_for_argument(std::size_t index) const {
  const auto parameters = kernel_.parameters();
  std::string prefix =
      text("kernel '", kernel_.name(), "', argument ", index + 1, " of ", parameters.size());
  if (index < parameters.size() && !parameters[index].type.empty())
    prefix += text(" ('", parameters[index].type, " ", parameters[index].name, "')");
  prefix += ": ";
  try {
    throw;
  } catch (const ReadOnlyError& error) {
    throw ReadOnlyError(prefix + error.what());
  } catch (const CopyNeededError& error) {
    throw CopyNeededError(prefix + error.what());
  } catch (const OutOfMemoryError&) {
    throw;
  } catch (const DeviceError&) {
    throw;
  } catch (const Error& error) {
    throw KernelArgumentError(prefix + error.what());
  }
}

bool PackedArguments::needs_transfers() const noexcept {
  for (const HostArgument& argument : host_arguments_)
    if (argument.needs_transfer()) return true;
  return false;
}

void PackedArguments::copy_in() {
  for (HostArgument& argument : host_arguments_) argument.copy_in();
}

void PackedArguments::copy_out() const {
  for (const HostArgument& argument : host_arguments_) argument.copy_out();
}

}  // namespace spanwise::python
