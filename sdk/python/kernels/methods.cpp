// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>

#include <cstddef>
#include <string>
#include <vector>

#include "dims.hpp"
#include "function.hpp"
#include "launch.hpp"
#include "python/support/array.hpp"
#include "python/support/declared.hpp"
#include "python/support/python_function.hpp"
#include "python/support/stream.hpp"
#include "python/support/type.hpp"
#include "spanwise/core/error.hpp"

/// Methods and attributes of KernelFunction: PyCUDA's prepared calls, bind, occupancy, and
/// f[grid, block].
namespace spanwise::python {

namespace py = pybind11;

namespace {

py::tuple parameters(PyObject* self) {
  const auto all = kernel_in(self).parameters();
  py::tuple out(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) out[i] = py::cast(all[i]);
  return out;
}

// The only keyword of a prepared call is PyCUDA's shared_size=.
void read_prepared_keywords(PyObject* names, PyObject* const* values, LaunchConfig& config) {
  const Py_ssize_t count = names != nullptr ? PyTuple_GET_SIZE(names) : 0;
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* name = PyTuple_GET_ITEM(names, i);
    if (PyUnicode_CompareWithASCIIString(name, "shared_size") != 0)
      fail<KernelArgumentError>("prepared call: unexpected keyword argument '",
                                std::string(py::str(name)), "'; there is shared_size");
    config.shared_bytes = int64_from(values[i], "shared_size=");
  }
}

// (grid, block[, stream], *args): `leading` arguments precede the kernel's.
template <Py_ssize_t leading>
PyObject* prepared(PyObject* self, PyObject* const* values, Py_ssize_t count, PyObject* names) {
  const Kernel& kernel = kernel_in(self);
  if (count < leading)
    fail<KernelArgumentError>("kernel '", kernel.name(), "': expected grid, block",
                              leading == 3 ? ", stream" : "", " and the kernel's arguments, got ",
                              count, " arguments");
  LaunchConfig config;
  config.grid = dim3_from(values[0], "grid");
  config.block = dim3_from(values[1], "block");
  if (leading == 3 && values[2] != Py_None) config.stream = stream_from(values[2], kernel.device());
  read_prepared_keywords(names, values + count, config);
  launch(kernel, config, values + leading, static_cast<std::size_t>(count - leading));
  Py_RETURN_NONE;
}

// The declarations of bind(args) or bind(args=...).
std::vector<std::string> declarations_from(PyObject* object) {
  const bool is_list = PyTuple_Check(object) || PyList_Check(object);
  if (!is_list)
    fail<KernelArgumentError>(
        "bind: expected args as a tuple of texts, one a parameter, "
        "got ",
        std::string(py::repr(object)));
  std::vector<std::string> out;
  for (const py::handle item : py::reinterpret_borrow<py::object>(object)) {
    if (!py::isinstance<py::str>(item))
      fail<KernelArgumentError>("bind: expected a text such as ", "\"contiguous float32*\", got ",
                                std::string(py::repr(item)));
    out.push_back(item.cast<std::string>());
  }
  return out;
}

PyObject* bind(PyObject* self, PyObject* args) {
  const std::vector<std::string> declarations = declarations_from(args);
  const auto origin = py::reinterpret_borrow<py::tuple>(origin_of(self));
  const auto declared = py::tuple(py::reinterpret_borrow<py::object>(args));
  return wrap_kernel(kernel_in(self).bind(declarations),
                     py::make_tuple(origin[0], origin[1], declared).ptr());
}

std::int64_t shared_from(PyObject* shared) {
  return given(shared) ? int64_from(shared, "shared=") : 0;
}

PyObject* max_active_blocks(PyObject* self, PyObject* threads, PyObject* shared) {
  const Dim3 block = dim3_from(threads, "the block");
  return PyLong_FromLong(kernel_in(self).max_active_blocks(
      static_cast<int>(block.x * block.y * block.z), shared_from(shared)));
}

PyObject* occupancy_block_size(PyObject* self, PyObject* shared) {
  const BlockSize best = kernel_in(self).occupancy_block_size(shared_from(shared));
  return py::make_tuple(best.min_blocks, best.threads).release().ptr();
}

PyObject* reduce(PyObject* self) {
  return PyObject_CallObject(python_function<"kernels._pickle", "reduce_kernel">(),
                             origin_of(self));
}

}  // namespace

PyObject* kernel_subscript(PyObject* self, PyObject* key) {
  const Kernel& kernel = kernel_in(self);
  const Py_ssize_t size = PyTuple_Check(key) ? PyTuple_GET_SIZE(key) : 0;
  if (size < 2 || size > 4)
    fail<KernelArgumentError>(
        "kernel '", kernel.name(),
        "': expected f[grid, block], f[grid, block, stream] or f[grid, block, stream, shared], "
        "got ",
        std::string(py::repr(key)));
  LaunchConfig config;
  config.grid = dim3_from(PyTuple_GET_ITEM(key, 0), "grid");
  config.block = dim3_from(PyTuple_GET_ITEM(key, 1), "block");
  PyObject* stream = size > 2 ? PyTuple_GET_ITEM(key, 2) : Py_None;
  if (stream != Py_None) config.stream = stream_from(stream, kernel.device());
  if (size > 3) config.shared_bytes = int64_from(PyTuple_GET_ITEM(key, 3), "shared");
  return wrap_launch(kernel, config, stream);
}

PyMethodDef kernel_methods[] = {
    declared<"__reduce__($self)", "", &reduce>(),
    in_python<"kernels", "prepare($self, arg_types)",
              "Checks PyCUDA's argument types against the kernel and returns the function itself. "
              "Optional:\narguments are converted by the kernel's signature. Raises "
              "KernelArgumentError.">(),
    declared<"bind($self, args)",
             "The kernel with declared parameters, one string each: \"raw float32*\", \"contiguous "
             "float32*\"\n(other layouts are copied, and copied back unless const), \"strided "
             "float32[2]\" (spanwise::View),\n\"int32\".",
             &bind>(),
    declared<"max_active_blocks($self, block, shared=0)",
             "The number of blocks of `block` threads and `shared` bytes of dynamic shared memory "
             "that\nare resident on one multiprocessor.",
             &max_active_blocks>(),
    declared<"occupancy_block_size($self, shared=0)",
             "(min_grid, block): the number of threads per block with the highest occupancy, and "
             "the\nsmallest grid that then fills the device.",
             &occupancy_block_size>(),
    method<&prepared<2>>("prepared_call",
                         "prepared_call($self, grid, block, /, *args, shared_size=0)\n--\n\n"
                         "Launches on the current stream."),
    method<&prepared<3>>("prepared_async_call",
                         "prepared_async_call($self, grid, block, stream, /, *args, "
                         "shared_size=0)\n--\n\nLaunches on `stream`."),
    in_python<"kernels", "prepared_timed_call($self, grid, block, /, *args, shared_size=0)",
              "Launches on the current stream. Returns a function that waits for the kernel and "
              "returns its\nduration in seconds.">(),
    in_python<"kernels", "get_attribute($self, attribute)",
              "The value of a spanwise.driver.function_attribute.">(),
    in_python<"kernels", "set_attribute($self, attribute, value)",
              "Checks the limit of dynamic shared memory and sets nothing: a launch raises the "
              "limit itself.">(),
    in_python<"kernels", "set_cache_config($self, config)",
              "Checks `config`, one of spanwise.driver.func_cache, and has no effect.">(),
    {nullptr, nullptr, 0, nullptr}};

// The attribute get(kernel).
template <auto get>
PyGetSetDef of_kernel(const char* name, const char* doc) {
  return attribute<[](PyObject* self) { return py::cast(get(kernel_in(self))); }>(name, doc);
}

PyGetSetDef kernel_attributes[] = {
    of_kernel<[](const Kernel& f) { return f.name(); }>("name", "The kernel's name."),
    of_kernel<[](const Kernel& f) { return f.name(); }>("__name__", nullptr),
    attribute<[](PyObject* self) { return device_object(kernel_in(self).device()); }>(
        "device", "The device it is loaded on."),
    of_kernel<[](const Kernel& f) { return f.handle(); }>(
        "handle", "The CUfunction as an integer; 0 on the CPU."),
    attribute<&parameters>(
        "parameters",
        "A tuple of KernelParameter: name, type, size, offset and dtype, where known."),
    of_kernel<[](const Kernel& f) { return f.attributes(); }>(
        "attributes", "The resources it uses: a KernelAttributes."),
    of_kernel<[](const Kernel& f) { return f.attributes().registers; }>("num_regs",
                                                                        "Registers per thread."),
    of_kernel<[](const Kernel& f) { return f.attributes().static_shared_bytes; }>(
        "shared_size_bytes", "Static shared memory per block, in bytes."),
    of_kernel<[](const Kernel& f) { return f.attributes().local_bytes; }>(
        "local_size_bytes", "Local memory per thread, in bytes."),
    of_kernel<[](const Kernel& f) { return f.attributes().const_bytes; }>(
        "const_size_bytes", "Constant memory, in bytes."),
    of_kernel<[](const Kernel& f) { return f.attributes().max_threads_per_block; }>(
        "max_threads_per_block", "The largest block that can be launched."),
    {}};

}  // namespace spanwise::python
