// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "python/support/array.hpp"
#include "python/support/errors.hpp"
#include "python/support/host.hpp"
#include "slots.hpp"
#include "spanwise/core/error.hpp"

/// Conversion of arrays of one element to bool, int, float, complex and an index.
namespace spanwise::python {

namespace py = pybind11;

namespace {

// Converts an array of rank 0; throws DTypeError for other ranks, as NumPy.
PyObject* converted(PyObject* self, const char* target, PyObject* (*convert_number)(PyObject*)) {
  const Array& array = array_in(self);
  if (array.rank() != 0)
    fail<DTypeError>("Array: only an array of rank 0 converts to ", target, ", this one has shape ",
                     array.shape(), "; use a.item() or index it");
  return convert_number(python_number(array).ptr());
}

}  // namespace

int array_bool(PyObject* self) {
  const Array& array = array_in(self);
  if (array.size() != 1)
    fail<ArgumentError>("Array: the truth of an array of ", array.size(), " elements (shape ",
                        array.shape(), ") is ambiguous; use any() or all()");
  return PyObject_IsTrue(python_number(array).ptr());
}

PyObject* array_index(PyObject* self) {
  const Array& array = array_in(self);
  if (!array.dtype().is_integer()) {
    PyErr_Format(errors.dtype,
                 "Array: only an integer array of rank 0 is an index, this one has dtype %s",
                 array.dtype().name().c_str());
    return nullptr;
  }
  return converted(self, "an index", &PyNumber_Index);
}

PyObject* array_int(PyObject* self) { return converted(self, "int", &PyNumber_Long); }

PyObject* array_float(PyObject* self) { return converted(self, "float", &PyNumber_Float); }

PyObject* array_complex(PyObject* self) {
  return converted(self, "complex", [](PyObject* number) {
    return PyComplex_FromCComplex(PyComplex_AsCComplex(number));
  });
}

}  // namespace spanwise::python
