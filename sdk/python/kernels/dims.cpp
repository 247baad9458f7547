// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "dims.hpp"

#include <pybind11/pybind11.h>

#include <string>

#include "spanwise/core/error.hpp"

namespace spanwise::python {

namespace py = pybind11;

namespace {

// Clears the Python error, if one is set, and throws instead.
[[noreturn]] void fail_dims(PyObject* object, const char* argument) {
  PyErr_Clear();
  const bool is_float = PyFloat_Check(object);
  fail<KernelArgumentError>("launch: expected ", argument,
                            " as a whole number or up to three of them, got ",
                            std::string(py::repr(object)), " of type ", Py_TYPE(object)->tp_name,
                            is_float ? "; round it yourself, for example -(-n // 256)" : "");
}

// Returns false with a Python error set, or for an object without __index__.
bool try_read(PyObject* object, std::int64_t& value) {
  if (PyLong_CheckExact(object)) {
    value = PyLong_AsLongLong(object);
    return value != -1 || PyErr_Occurred() == nullptr;
  }
  const auto number = py::reinterpret_steal<py::object>(PyNumber_Index(object));
  return number && try_read(number.ptr(), value);
}

// Fast path for tuples: their items are borrowed.
bool try_read_tuple(PyObject* tuple, Dim3& dims) {
  const Py_ssize_t size = PyTuple_GET_SIZE(tuple);
  if (size < 1 || size > 3) return false;
  std::int64_t* const extents[] = {&dims.x, &dims.y, &dims.z};
  for (Py_ssize_t i = 0; i < size; ++i)
    if (!try_read(PyTuple_GET_ITEM(tuple, i), *extents[i])) return false;
  return true;
}

}  // namespace

Dim3 dim3_from(PyObject* object, const char* argument) {
  Dim3 dims;
  bool is_valid = false;
  if (PyTuple_Check(object)) {
    is_valid = try_read_tuple(object, dims);
  } else if (PyLong_Check(object)) {
    is_valid = try_read(object, dims.x);
  } else if (PySequence_Check(object) && !PyUnicode_Check(object) && PySequence_Size(object) >= 0) {
    const auto items = py::reinterpret_steal<py::object>(PySequence_Tuple(object));
    is_valid = items && try_read_tuple(items.ptr(), dims);
  } else {
    PyErr_Clear();  // set by PySequence_Size() for an array of rank 0
    is_valid = PyIndex_Check(object) && try_read(object, dims.x);
  }
  if (!is_valid) fail_dims(object, argument);
  return dims;
}

std::int64_t int64_from(PyObject* object, const char* argument) {
  std::int64_t value = 0;
  if (PyIndex_Check(object) && try_read(object, value)) return value;
  PyErr_Clear();
  fail<KernelArgumentError>("launch: expected ", argument, " as a whole number, got ",
                            std::string(py::repr(object)), " of type ", Py_TYPE(object)->tp_name);
}

}  // namespace spanwise::python
