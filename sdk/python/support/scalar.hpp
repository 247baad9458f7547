// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include "spanwise/core/dtype.hpp"
#include "spanwise/core/scalar.hpp"

/// Conversion between Python's bool, int, float and complex and Scalar.
namespace spanwise::python {

/// Whether scalar_from() accepts the object: an instance of bool, int, float or complex.
inline bool is_python_scalar(PyObject* object) noexcept {
  return PyFloat_Check(object) || PyLong_Check(object) || PyComplex_Check(object);
}
/// Whether the object is such a number, a list or a tuple, which have no device.
inline bool is_number_or_list(PyObject* object) noexcept {
  return PyList_Check(object) || PyTuple_Check(object) || is_python_scalar(object);
}

/// The number as an element of `dtype`, converted as NumPy 2 converts Python numbers on assignment:
/// a float is truncated for an integer dtype. Throws OverflowError (as pybind11::error_already_set)
/// for an int or float outside the range of an integer dtype, DTypeError for a complex number and a
/// real dtype or for a dtype that is not computable, ArgumentError for NaN and an integer dtype.
Scalar scalar_from(PyObject* number, DType dtype);

/// A bool, int, float or complex. Throws DTypeError for dtypes without a Python number.
pybind11::object python_number(const Scalar& scalar);

}  // namespace spanwise::python
