// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "pickle_refusal.hpp"

#include <string>
#include <string_view>

namespace spanwise::python {

namespace py = pybind11;

namespace {

PyObject* refuse_to_reduce(PyObject* self, PyObject*) noexcept {
  return PyErr_Format(
      PyExc_TypeError,
      "cannot pickle '%s' object: it belongs to this process; pickle what makes it, "
      "and make it again",
      Py_TYPE(self)->tp_name);
}

PyMethodDef refusal = {"__reduce__", &refuse_to_reduce, METH_NOARGS, nullptr};

// Whether `value` is a class of spanwise, not an exception, that does not define __reduce__.
bool needs_refusal(const py::handle& value) {
  if (!PyType_Check(value.ptr()) ||
      PyType_HasFeature(reinterpret_cast<PyTypeObject*>(value.ptr()), Py_TPFLAGS_BASE_EXC_SUBCLASS))
    return false;
  const auto module = value.attr("__module__").cast<std::string>();
  if (module != "spanwise" && !std::string_view(module).starts_with("spanwise.")) return false;
  const py::handle root(reinterpret_cast<PyObject*>(&PyBaseObject_Type));
  return value.attr("__reduce__").is(root.attr("__reduce__"));
}

}  // namespace

void refuse_pickling(const py::module_& module) {
  const py::dict names = module.attr("__dict__");
  for (const auto& [name, value] : names) {
    if (!needs_refusal(value)) continue;
    const auto method = py::reinterpret_steal<py::object>(
        PyDescr_NewMethod(reinterpret_cast<PyTypeObject*>(value.ptr()), &refusal));
    if (!method) throw py::error_already_set();
    py::setattr(value, "__reduce__", method);
  }
}

}  // namespace spanwise::python
