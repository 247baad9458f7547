// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include <optional>

#include "python/interop/typestr.hpp"

/// numpy.dtype objects, which other libraries' arrays have too, read by their fields: NumPy keeps
/// those binary compatible (every extension compiled against it has them inlined).
namespace spanwise::python {

/// The element type that `descriptor`, a numpy.dtype, stands for; nothing where it is none of
/// NumPy's own numbers. Leaves no Python error.
std::optional<ElementType> numpy_element(PyObject* descriptor) noexcept;

/// The dtype where `object` is a numpy.dtype of NumPy's own numbers in this machine's byte order.
std::optional<DType> native_numpy_dtype(PyObject* object) noexcept;

}  // namespace spanwise::python
