// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <structmember.h>

#include <cstddef>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "../kernel_text.hpp"
#include "python/support/array.hpp"
#include "python/support/slot.hpp"
#include "python/support/value.hpp"
#include "spanwise/ref.hpp"

/// Python types of user kernels: heap types with a vectorcall slot. Classes in Python derive from
/// them and parse the constructor's arguments.
namespace spanwise::python {

template <class Kernel>
struct PyUserKernel {
  PyObject_HEAD
  vectorcallfunc vectorcall;
  Ref<Kernel> kernel;
  bool returns_tuple;
  bool returns_nothing;
  PyObject* parts;  ///< the arguments of `__new__`, for pickling
};

template <class Kernel>
PyUserKernel<Kernel>* user_kernel_in(PyObject* object) noexcept {
  return reinterpret_cast<PyUserKernel<Kernel>*>(object);
}

template <class Kernel>
void dealloc_user_kernel(PyObject* object) noexcept {
  PyTypeObject* type = Py_TYPE(object);
  user_kernel_in<Kernel>(object)->kernel.~Ref();
  Py_DECREF(user_kernel_in<Kernel>(object)->parts);
  type->tp_free(object);
  Py_DECREF(type);
}

/// The arguments of `__new__`: texts, flags and lists that the Python class has prepared.
class KernelParts {
 public:
  KernelParts(PyObject* arguments, std::size_t count)
      : parts_(pybind11::reinterpret_borrow<pybind11::tuple>(arguments)) {
    if (parts_.size() != count)
      throw pybind11::type_error(text("expected the ", count, " parts of a kernel"));
  }
  std::string string(std::size_t i) const { return value_of<std::string>(parts_[i], "kernel"); }
  bool flag(std::size_t i) const { return value_of<bool>(parts_[i], "kernel"); }
  ops::user_kernels::CommonSpec common(const char* kind, std::size_t name, std::size_t preamble,
                                       std::size_t options) const {
    return {kind, string(name), string(preamble),
            value_of<std::vector<std::string>>(parts_[options], "kernel")};
  }

 private:
  pybind11::tuple parts_;
};

template <class Kernel>
PyObject* new_user_kernel(PyTypeObject* type, PyObject* parts, Ref<Kernel> kernel,
                          vectorcallfunc call, bool returns_tuple = false,
                          bool returns_nothing = false) {
  PyObject* object = type->tp_alloc(type, 0);
  if (object == nullptr) throw pybind11::error_already_set();
  auto* self = user_kernel_in<Kernel>(object);
  self->vectorcall = call;
  new (&self->kernel) Ref<Kernel>(std::move(kernel));
  self->returns_tuple = returns_tuple;
  self->returns_nothing = returns_nothing;
  self->parts = Py_NewRef(parts);
#if PY_VERSION_HEX < 0x030C0000
  // Before CPython 3.12, Python classes inherit the slot but not its flag.
  if (type->tp_call == &PyVectorcall_Call) type->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
#endif
  return object;
}

template <class Kernel>
PyObject* user_kernel_name(PyObject* object, void*) noexcept {
  const std::string& name = user_kernel_in<Kernel>(object)->kernel->spec().common.name;
  return PyUnicode_FromStringAndSize(name.data(), static_cast<Py_ssize_t>(name.size()));
}

/// __reduce__: (function, (class, parts)); the function makes the kernel or returns the one that
/// this process has made from these parts.
template <class Kernel>
PyObject* reduce_user_kernel(PyObject* object, PyObject*) noexcept {
  PyObject* pickles = PyImport_ImportModule("spanwise._kernels.pickle");
  if (pickles == nullptr) return nullptr;
  PyObject* result = PyObject_CallMethod(pickles, "reduce_user_kernel", "OO", Py_TYPE(object),
                                         user_kernel_in<Kernel>(object)->parts);
  Py_DECREF(pickles);
  return result;
}

/// Makes the type around `Kernel` and adds it to the module as `name`; `full_name` is a literal.
template <class Kernel>
void add_user_kernel_type(pybind11::module_& module, const char* name, const char* full_name,
                          newfunc make) {
  static PyMemberDef members[] = {{"__vectorcalloffset__", T_PYSSIZET,
                                   offsetof(PyUserKernel<Kernel>, vectorcall), READONLY, nullptr},
                                  {nullptr, 0, 0, 0, nullptr}};
  static PyGetSetDef attributes[] = {
      {"name", &user_kernel_name<Kernel>, nullptr, "The kernel's name.", nullptr},
      {nullptr, nullptr, nullptr, nullptr, nullptr}};
  static PyMethodDef methods[] = {{"__reduce__", &reduce_user_kernel<Kernel>, METH_NOARGS, nullptr},
                                  {nullptr, nullptr, 0, nullptr}};
  static PyType_Slot slots[] = {slot(Py_tp_new, make),
                                slot(Py_tp_dealloc, &dealloc_user_kernel<Kernel>),
                                slot(Py_tp_call, &PyVectorcall_Call),
                                {Py_tp_members, members},
                                {Py_tp_methods, methods},
                                {Py_tp_getset, attributes},
                                {0, nullptr}};
  static PyType_Spec spec = {full_name, sizeof(PyUserKernel<Kernel>), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_BASETYPE,
                             slots};
  PyObject* type = PyType_FromSpec(&spec);
  if (type == nullptr) throw pybind11::error_already_set();
  module.add_object(name, pybind11::reinterpret_steal<pybind11::object>(type));
}

}  // namespace spanwise::python
