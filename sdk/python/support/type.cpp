// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "type.hpp"

#include <utility>

namespace spanwise::python {

namespace py = pybind11;

PyTypeObject* make_type(const char* name, std::size_t size, std::vector<PyType_Slot> slots,
                        unsigned long flags, PyTypeObject* base) {
  slots.push_back({0, nullptr});
  PyType_Spec spec{name, static_cast<int>(size), 0,
                   static_cast<unsigned int>(Py_TPFLAGS_DEFAULT | flags), slots.data()};
  PyObject* type = PyType_FromSpecWithBases(&spec, reinterpret_cast<PyObject*>(base));
  if (type == nullptr) throw py::error_already_set();
  return reinterpret_cast<PyTypeObject*>(type);
}

void add_type(py::module_& module, const char* name, PyTypeObject* type) {
  module.add_object(name, py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(type)));
}

}  // namespace spanwise::python
