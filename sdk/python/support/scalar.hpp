// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include "spanwise/dtype.hpp"
#include "spanwise/scalar.hpp"

/// Python's bool, int, float and complex to and from Scalar.
namespace spanwise::python {

/// True for the objects that scalar_from() takes: instances of Python's four number types.
bool is_python_scalar(PyObject* object) noexcept;

/// The number as an element of `dtype`, converted as NumPy 2 converts Python numbers on assignment:
/// a float is cut to an integer, an int outside `dtype` is an OverflowError, a complex number for a
/// real dtype and a dtype that cannot be computed on are DTypeErrors, NaN for an integer dtype is
/// an ArgumentError. Throws those, or pybind11::error_already_set.
Scalar scalar_from(PyObject* number, DType dtype);

/// A new bool, int, float or complex. Throws DTypeError where the dtype has no Python number.
PyObject* python_number(const Scalar& scalar);

}  // namespace spanwise::python
