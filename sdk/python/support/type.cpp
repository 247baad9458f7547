// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "type.hpp"

namespace spanwise::python {

namespace py = pybind11;

namespace {

void attach(PyTypeObject* type, const char* name, PyObject* descriptor) {
  py::setattr(reinterpret_cast<PyObject*>(type), name, owned(descriptor));
}

}  // namespace

void add_methods(PyTypeObject* type, PyMethodDef* methods) {
  for (; methods->ml_name != nullptr; ++methods)
    attach(type, methods->ml_name, PyDescr_NewMethod(type, methods));
}

void add_attributes(PyTypeObject* type, PyGetSetDef* attributes) {
  for (; attributes->name != nullptr; ++attributes)
    attach(type, attributes->name, PyDescr_NewGetSet(type, attributes));
}

PyTypeObject* make_type(const char* name, std::size_t size, std::vector<PyType_Slot> slots,
                        unsigned long flags, PyTypeObject* base) {
  slots.push_back({0, nullptr});
  PyType_Spec spec{name, static_cast<int>(size), 0,
                   static_cast<unsigned int>(Py_TPFLAGS_DEFAULT | flags), slots.data()};
  PyObject* bases = reinterpret_cast<PyObject*>(base);
  return reinterpret_cast<PyTypeObject*>(
      owned(PyType_FromSpecWithBases(&spec, bases)).release().ptr());
}

void add_type(py::module_& module, const char* name, PyTypeObject* type) {
  module.add_object(name, py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(type)));
}

}  // namespace spanwise::python
