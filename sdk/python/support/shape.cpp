// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "array.hpp"
#include "call.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::python {

namespace py = pybind11;

namespace {

[[noreturn]] void refuse(py::handle object) {
  fail<DTypeError>("shape: expected an int or a sequence of ints, got ",
                   std::string(py::repr(object)));
}

[[noreturn]] void refuse_rank() {
  fail<LayoutError>("shape: expected at most ", max_rank, " dimensions, got more");
}

std::int64_t extent_from(PyObject* item, py::handle whole) {
  if (PyLong_CheckExact(item)) return integer_from(item);
  if (!PyIndex_Check(item) || PyBool_Check(item)) refuse(whole);
  return integer_from(item);
}

Shape from_iterable(py::handle object) {
  const auto iterator = py::reinterpret_steal<py::object>(PyObject_GetIter(object.ptr()));
  if (!iterator) {
    PyErr_Clear();
    refuse(object);
  }
  std::vector<std::int64_t> extents;
  while (const auto item = py::reinterpret_steal<py::object>(PyIter_Next(iterator.ptr()))) {
    // Checked here, since an iterator may be infinite.
    if (extents.size() == max_rank) refuse_rank();
    extents.push_back(extent_from(item.ptr(), object));
  }
  if (PyErr_Occurred()) throw py::error_already_set();
  return Shape(std::span<const std::int64_t>(extents));
}

}  // namespace

Shape shape_from(py::handle object) {
  if (PyLong_CheckExact(object.ptr())) return Shape(1, integer_from(object.ptr()));
  if (PyTuple_Check(object.ptr())) {
    const Py_ssize_t rank = PyTuple_GET_SIZE(object.ptr());
    if (rank > max_rank) refuse_rank();
    Shape shape(static_cast<int>(rank));
    for (int i = 0; i < shape.size(); ++i) {
      shape[i] = extent_from(PyTuple_GET_ITEM(object.ptr(), i), object);
    }
    return shape;
  }
  if (PyIndex_Check(object.ptr()) && !has_length(object.ptr())) {
    return Shape{extent_from(object.ptr(), object)};
  }
  return from_iterable(object);
}

}  // namespace spanwise::python
