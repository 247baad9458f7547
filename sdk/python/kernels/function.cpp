// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "function.hpp"
#include "python/support/type.hpp"

#include <pybind11/pybind11.h>
#include <structmember.h>

#include <cstddef>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "launch.hpp"
#include "python/support/array.hpp"
#include "spanwise/python/binding.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::python {

namespace py = pybind11;

PyTypeObject* kernel_function_type = nullptr;
PyTypeObject* kernel_launch_type = nullptr;

namespace {

PyObject* call_kernel(PyObject* self, PyObject* const* values, std::size_t flags, PyObject* names) {
  const Kernel& kernel = kernel_in(self);
  const auto count = static_cast<std::size_t>(PyVectorcall_NARGS(flags));
  LaunchConfig config;
  if (!read_keywords(names, values + count, kernel, config)) [[unlikely]]
    fail<KernelArgumentError>("kernel '", kernel.name(),
                              "': expected block=, the threads of a block, got none; "
                              "pass block=(x, y, z) and grid=(x, y, z)");
  launch(kernel, config, values, count);
  Py_RETURN_NONE;
}

PyObject* call_launch(PyObject* object, PyObject* const* values, std::size_t flags,
                      PyObject* names) {
  const auto* self = reinterpret_cast<PyKernelLaunch*>(object);
  const auto count = static_cast<std::size_t>(PyVectorcall_NARGS(flags));
  if (names == nullptr) {
    launch(self->kernel, self->config, values, count);
  } else {
    LaunchConfig config = self->config;
    read_keywords(names, values + count, self->kernel, config);
    launch(self->kernel, config, values, count);
  }
  Py_RETURN_NONE;
}

template <class T>
void kernel_dealloc(PyObject* object) noexcept {
  auto* self = reinterpret_cast<T*>(object);
  if constexpr (std::is_same_v<T, PyKernelLaunch>) {
    Py_XDECREF(self->stream_owner);
    self->config.~LaunchConfig();
  } else {
    Py_DECREF(self->origin);
  }
  self->kernel.~Kernel();
  free_object(object);
}

py::str repr_of_kernel(PyObject* self) {
  const Kernel& kernel = kernel_in(self);
  std::string parameters;
  for (const KernelParameter& parameter : kernel.parameters()) {
    if (!parameters.empty()) parameters += ", ";
    const bool starred = parameter.type.ends_with('*');
    parameters += parameter.type.empty() ? text(parameter.size, " bytes")
                                         : parameter.type + (starred ? "" : " ") + parameter.name;
  }
  return text("<kernel ", kernel.name(), "(", parameters, ") on ", kernel.device(), ">");
}

py::str launch_repr(PyObject* object) {
  const auto* self = reinterpret_cast<PyKernelLaunch*>(object);
  const auto shown = [](const Dim3& d) { return text('(', d.x, ", ", d.y, ", ", d.z, ')'); };
  return text("<kernel ", self->kernel.name(), " on ", self->kernel.device(), ", grid ",
              shown(self->config.grid), ", block ", shown(self->config.block), ">");
}

constexpr const char* kernel_doc =
    "A compiled kernel: f(*args, block=(x, y, z), grid=(x, y, z), shared=0, stream=None), or\n"
    "f[grid, block, stream](*args). Arguments are checked against the kernel's parameters before "
    "the launch.\n\n"
    "Arguments are arrays of any library, numbers, NumPy and ctypes scalars and structs, None for "
    "a\n"
    "null pointer, and host arrays wrapped in spanwise.driver.In, Out or InOut.";

constexpr const char* launch_doc =
    "A kernel with its grid, block and stream. Call it with the kernel's arguments.";

// The type of objects T, which are called through their member vectorcall.
template <class T>
PyTypeObject* make_callable_type(const char* name, const char* doc,
                                 std::vector<PyType_Slot> more_slots) {
  static PyMemberDef own_members[] = {
      {"__vectorcalloffset__", T_PYSSIZET, offsetof(T, vectorcall), READONLY, nullptr}, {}};
  more_slots.insert(more_slots.end(), {slot(Py_tp_dealloc, &kernel_dealloc<T>),
                                       slot(Py_tp_call, &PyVectorcall_Call),
                                       {Py_tp_members, own_members},
                                       {Py_tp_doc, const_cast<char*>(doc)}});
  return make_type(name, sizeof(T), std::move(more_slots),
                   Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION);
}

}  // namespace

PyObject* wrap_kernel(Kernel kernel, PyObject* origin) noexcept {
  auto* self = PyObject_New(PyKernelFunction, kernel_function_type);
  if (self == nullptr) return nullptr;
  self->vectorcall = guarded<&call_kernel>;
  new (&self->kernel) Kernel(std::move(kernel));
  self->origin = Py_NewRef(origin);
  return reinterpret_cast<PyObject*>(self);
}

PyObject* wrap_launch(const Kernel& kernel, const LaunchConfig& config, PyObject* stream) noexcept {
  auto* self = PyObject_New(PyKernelLaunch, kernel_launch_type);
  if (self == nullptr) return nullptr;
  self->vectorcall = guarded<&call_launch>;
  new (&self->kernel) Kernel(kernel);
  new (&self->config) LaunchConfig(config);
  self->stream_owner = Py_XNewRef(stream);
  return reinterpret_cast<PyObject*>(self);
}

SW_BIND(kernels_function) {
  kernel_function_type =
      make_callable_type<PyKernelFunction>("spanwise.KernelFunction", kernel_doc,
                                           {slot(Py_tp_repr, guarded<&repr_of_kernel>),
                                            slot(Py_mp_subscript, guarded<&kernel_subscript>),
                                            {Py_tp_methods, kernel_methods},
                                            {Py_tp_getset, kernel_attributes}});
  kernel_launch_type = make_callable_type<PyKernelLaunch>(
      "spanwise.KernelLaunch", launch_doc, {slot(Py_tp_repr, guarded<&launch_repr>)});
  add_type(module, "KernelFunction", kernel_function_type);
}

}  // namespace spanwise::python
