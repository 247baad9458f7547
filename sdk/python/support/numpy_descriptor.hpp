// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include <optional>

#include "python/interop/typestr.hpp"

/// Reads numpy.dtype objects, which other libraries' arrays have too, by the fields of their C
/// struct. Its layout is part of NumPy's ABI.
namespace spanwise::python {

/// The element type of `descriptor`, a numpy.dtype; nothing if it is not one of NumPy's numeric
/// types that Spanwise has. Leaves no Python error.
std::optional<ElementType> numpy_element(PyObject* descriptor) noexcept;

/// The dtype if `object` is a numpy.dtype of such a type in native byte order, else nothing.
std::optional<DType> native_numpy_dtype(PyObject* object) noexcept;

}  // namespace spanwise::python
