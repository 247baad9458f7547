// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <Python.h>

#include <cstddef>
#include <vector>

#include "python/support/array.hpp"
#include "python/support/bind.hpp"
#include "python/support/call.hpp"

/// Array methods that are implemented in Python, as functions whose first argument is the array.
namespace spanwise::python {

namespace py = pybind11;

namespace {

// The module is imported when the method is first called.
PyObject* by_module(const char* module, const char* function, PyObject* self,
                    PyObject* const* values, Py_ssize_t count, PyObject* kwnames) {
  const py::object called = py::module_::import(module).attr(function);
  const Py_ssize_t given = count + (kwnames != nullptr ? PyTuple_GET_SIZE(kwnames) : 0);
  std::vector<PyObject*> arguments{self};
  arguments.insert(arguments.end(), values, values + given);
  return PyObject_Vectorcall(called.ptr(), arguments.data(), static_cast<std::size_t>(count) + 1,
                             kwnames);
}

PyObject* choose(PyObject* self, PyObject* const* values, Py_ssize_t count, PyObject* kwnames) {
  return by_module("spanwise._numpy.selection", "choose", self, values, count, kwnames);
}
PyObject* searchsorted(PyObject* self, PyObject* const* values, Py_ssize_t count,
                       PyObject* kwnames) {
  return by_module("spanwise._numpy.lines", "searchsorted", self, values, count, kwnames);
}
PyObject* trace(PyObject* self, PyObject* const* values, Py_ssize_t count, PyObject* kwnames) {
  return by_module("spanwise._numpy.linalg", "trace", self, values, count, kwnames);
}
PyObject* setflags(PyObject* self, PyObject* const* values, Py_ssize_t count, PyObject* kwnames) {
  return by_module("spanwise._numpy.array_methods", "setflags", self, values, count, kwnames);
}
PyObject* tobytes(PyObject* self, PyObject* const* values, Py_ssize_t count, PyObject* kwnames) {
  return by_module("spanwise._numpy.array_methods", "tobytes", self, values, count, kwnames);
}

PyMethodDef module_methods[] = {
    method<&choose>("choose",
                    "choose($self, choices, out=None, mode='raise')\n--\n\n"
                    "result[i] = choices[self[i]][i], as numpy.choose."),
    method<&searchsorted>("searchsorted",
                          "searchsorted($self, v, side='left', sorter=None)\n--\n\n"
                          "The insertion index in this sorted vector of each element of `v`."),
    method<&trace>("trace",
                   "trace($self, offset=0, axis1=0, axis2=1, dtype=None, out=None)\n--\n\n"
                   "The sum along the diagonal of two axes."),
    method<&setflags>("setflags",
                      "setflags($self, write=None, align=None, uic=None)\n--\n\n"
                      "As numpy.ndarray.setflags; write=False cannot be undone."),
    method<&tobytes>("tobytes",
                     "tobytes($self, order='C')\n--\n\n"
                     "The elements as bytes in C order, or in Fortran order. Waits for the array."),
    {nullptr, nullptr, 0, nullptr}};

// As numpy.ndarray's.
PyObject* array_priority(PyObject*, void*) noexcept { return PyFloat_FromDouble(0.0); }

PyGetSetDef priority_attribute[] = {
    {"__array_priority__", &array_priority, nullptr,
     "0, as numpy.ndarray's: operators defer to objects with a higher priority.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

}  // namespace

SW_BIND(array_module_methods, array_type) {
  add_array_methods(module_methods);
  add_array_attributes(priority_attribute);
}

}  // namespace spanwise::python
