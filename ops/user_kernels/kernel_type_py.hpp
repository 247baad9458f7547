// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>
#include <pybind11/pybind11.h>
#include <structmember.h>

#include <cstddef>
#include <new>
#include <utility>

#include "python/py_array.hpp"
#include "python/py_slot.hpp"
#include "spanwise/ref.hpp"

/// Python types around a user's kernel: plain heap types with a vectorcall slot, which a class of
/// Python's derives from to read the constructor's spellings.
namespace spanwise::python {

template <class Kernel>
struct PyUserKernel {
  PyObject_HEAD
  vectorcallfunc vectorcall;
  Ref<Kernel> kernel;
  bool returns_tuple;
  bool returns_nothing;
};

template <class Kernel>
PyUserKernel<Kernel>* user_kernel_in(PyObject* object) noexcept {
  return reinterpret_cast<PyUserKernel<Kernel>*>(object);
}

template <class Kernel>
void dealloc_user_kernel(PyObject* object) noexcept {
  PyTypeObject* type = Py_TYPE(object);
  user_kernel_in<Kernel>(object)->kernel.~Ref();
  type->tp_free(object);
  Py_DECREF(type);
}

template <class Kernel>
PyObject* new_user_kernel(PyTypeObject* type, Ref<Kernel> kernel, vectorcallfunc call,
                          bool returns_tuple = false, bool returns_nothing = false) {
  PyObject* object = type->tp_alloc(type, 0);
  if (object == nullptr) throw pybind11::error_already_set();
  auto* self = user_kernel_in<Kernel>(object);
  self->vectorcall = call;
  new (&self->kernel) Ref<Kernel>(std::move(kernel));
  self->returns_tuple = returns_tuple;
  self->returns_nothing = returns_nothing;
#if PY_VERSION_HEX < 0x030C0000
  // Classes made in Python inherit the slot but, before CPython 3.12, not the flag for it.
  if (type->tp_call == &PyVectorcall_Call) type->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
#endif
  return object;
}

/// `attributes` ends with an empty entry and lives as long as the process.
template <class Kernel>
PyTypeObject* make_user_kernel_type(const char* name, newfunc make, PyGetSetDef* attributes) {
  static PyMemberDef members[] = {{"__vectorcalloffset__", T_PYSSIZET,
                                   offsetof(PyUserKernel<Kernel>, vectorcall), READONLY, nullptr},
                                  {nullptr, 0, 0, 0, nullptr}};
  static PyType_Slot slots[] = {slot(Py_tp_new, make),
                                slot(Py_tp_dealloc, &dealloc_user_kernel<Kernel>),
                                slot(Py_tp_call, &PyVectorcall_Call),
                                {Py_tp_members, members},
                                {Py_tp_getset, attributes},
                                {0, nullptr}};
  static PyType_Spec spec = {name, sizeof(PyUserKernel<Kernel>), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_BASETYPE,
                             slots};
  return reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
}

}  // namespace spanwise::python
