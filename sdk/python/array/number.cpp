// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "python/support/array.hpp"
#include "python/support/errors.hpp"
#include "python/support/host.hpp"
#include "slots.hpp"
#include "spanwise/error.hpp"

/// Conversion of arrays of one element to bool, int, float and an index.
namespace spanwise::python {

namespace py = pybind11;

namespace {

py::object number_in(const Array& array) {
  return py::reinterpret_steal<py::object>(number_of(array));
}

// Converts an array of rank 0; throws DTypeError for other ranks, as NumPy.
template <class F>
PyObject* converted(PyObject* self, const char* target, F&& convert_number) noexcept {
  const Array& array = array_in(self);
  try {
    if (array.rank() != 0) {
      fail<DTypeError>("Array: only an array of rank 0 converts to ", target,
                       ", this one has shape ", array.shape(), "; use a.item() or index it");
    }
    return convert_number(number_in(array).ptr());
  } catch (...) {
    return raise_current();
  }
}

}  // namespace

int array_bool(PyObject* self) noexcept {
  const Array& array = array_in(self);
  try {
    if (array.size() != 1)
      fail<ArgumentError>("Array: the truth of an array of ", array.size(), " elements (shape ",
                          array.shape(), ") is ambiguous; use any() or all()");
    return PyObject_IsTrue(number_in(array).ptr());
  } catch (...) {
    raise_current();
    return -1;
  }
}

PyObject* array_index(PyObject* self) noexcept {
  const Array& array = array_in(self);
  if (!array.dtype().is_integer()) {
    PyErr_Format(errors.dtype,
                 "Array: only an integer array of rank 0 is an index, this one has dtype %s",
                 array.dtype().name().c_str());
    return nullptr;
  }
  return converted(self, "an index", [](PyObject* number) { return PyNumber_Index(number); });
}

PyObject* array_int(PyObject* self) noexcept {
  return converted(self, "int", [](PyObject* number) { return PyNumber_Long(number); });
}

PyObject* array_float(PyObject* self) noexcept {
  return converted(self, "float", [](PyObject* number) { return PyNumber_Float(number); });
}

}  // namespace spanwise::python
