// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include <cstddef>

/// Calls of spanwise.CompiledFunction.
namespace spanwise::python {

/// The vectorcall slot: converts arguments of any library, by position and by name, to arrays, runs
/// the function, and returns the results in its ResultForm. Null with a Python error set on
/// failure.
PyObject* call_compiled(PyObject* self, PyObject* const* values, std::size_t flags,
                        PyObject* names) noexcept;

}  // namespace spanwise::python
