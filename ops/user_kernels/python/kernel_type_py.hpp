// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <structmember.h>

#include <cstddef>
#include <new>
#include <utility>
#include <vector>

#include "../kernel_text.hpp"
#include "python/support/array.hpp"
#include "python/support/declared.hpp"
#include "python/support/type.hpp"
#include "python/support/value.hpp"
#include "spanwise/core/ref.hpp"

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
  PyObject* arguments;  ///< the arguments of `__new__`, for pickling
};

template <class Kernel>
PyUserKernel<Kernel>* user_kernel_in(PyObject* object) noexcept {
  return reinterpret_cast<PyUserKernel<Kernel>*>(object);
}

template <class Kernel>
void dealloc_user_kernel(PyObject* object) noexcept {
  user_kernel_in<Kernel>(object)->kernel.~Ref();
  Py_DECREF(user_kernel_in<Kernel>(object)->arguments);
  free_object(object);
}

/// The arguments of `__new__`: texts, flags and lists that the Python class has prepared.
class ConstructorArguments {
 public:
  ConstructorArguments(PyObject* arguments, std::size_t count)
      : values_(pybind11::reinterpret_borrow<pybind11::tuple>(arguments)) {
    if (values_.size() != count)
      throw pybind11::type_error(
          text("a kernel: expected ", count, " constructor arguments, got ", values_.size()));
  }
  std::string string(std::size_t i) const { return value_of<std::string>(values_[i], "kernel"); }
  bool flag(std::size_t i) const { return value_of<bool>(values_[i], "kernel"); }
  ops::user_kernels::CommonSpec common(const char* kind, std::size_t name, std::size_t preamble,
                                       std::size_t options) const {
    return {kind, string(name), string(preamble),
            value_of<std::vector<std::string>>(values_[options], "kernel")};
  }

 private:
  pybind11::tuple values_;
};

template <class Kernel>
PyObject* new_user_kernel(PyTypeObject* type, PyObject* arguments, Ref<Kernel> kernel,
                          vectorcallfunc call, bool returns_tuple = false,
                          bool returns_nothing = false) {
  PyObject* object = type->tp_alloc(type, 0);
  if (object == nullptr) throw pybind11::error_already_set();
  auto* self = user_kernel_in<Kernel>(object);
  self->vectorcall = call;
  new (&self->kernel) Ref<Kernel>(std::move(kernel));
  self->returns_tuple = returns_tuple;
  self->returns_nothing = returns_nothing;
  self->arguments = Py_NewRef(arguments);
#if PY_VERSION_HEX < 0x030C0000
  // Before CPython 3.12, Python classes inherit the slot but not its flag.
  if (type->tp_call == &PyVectorcall_Call) type->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
#endif
  return object;
}

/// __reduce__: (function, (class, arguments)); the function makes the kernel, or returns the one
/// that this process has made from these arguments.
template <class Kernel>
pybind11::object reduce_user_kernel(PyObject* object) {
  return pybind11::module_::import("spanwise._kernels.pickle")
      .attr("reduce_user_kernel")(pybind11::type::of(pybind11::handle(object)),
                                  pybind11::handle(user_kernel_in<Kernel>(object)->arguments));
}

/// Makes the type around `Kernel` and adds it to the module as `name`; `full_name` is a literal.
template <class Kernel>
void add_user_kernel_type(pybind11::module_& module, const char* name, const char* full_name,
                          newfunc make) {
  static PyMemberDef members[] = {{"__vectorcalloffset__", T_PYSSIZET,
                                   offsetof(PyUserKernel<Kernel>, vectorcall), READONLY, nullptr},
                                  {nullptr, 0, 0, 0, nullptr}};
  static PyGetSetDef attributes[] = {
      attribute<[](PyObject* object) {
        return pybind11::str(user_kernel_in<Kernel>(object)->kernel->spec().common.name);
      }>("name", "The kernel's name."),
      {}};
  static PyMethodDef methods[] = {declared<"__reduce__($self)", "", &reduce_user_kernel<Kernel>>(),
                                  {}};
  add_type(module, name,
           make_type(full_name, sizeof(PyUserKernel<Kernel>),
                     {slot(Py_tp_new, make),
                      slot(Py_tp_dealloc, &dealloc_user_kernel<Kernel>),
                      slot(Py_tp_call, &PyVectorcall_Call),
                      {Py_tp_members, members},
                      {Py_tp_methods, methods},
                      {Py_tp_getset, attributes}},
                     Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_BASETYPE));
}

}  // namespace spanwise::python
