// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include "python/interop/typestr.hpp"

namespace spanwise::python {

/// NumPy's classes, found without importing NumPy: null until the program has imported it.
struct NumpyTypes {
  PyTypeObject* ndarray = nullptr;
  PyTypeObject* generic = nullptr;  ///< the base of all scalars
};
const NumpyTypes& numpy_types() noexcept;

/// The element type of an ndarray's descriptor. Throws DTypeError with a remedy for types that are
/// not numbers.
ElementType element_of(PyObject* descriptor);

}  // namespace spanwise::python
