// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include <cstddef>

/// What a call of a spanwise.CompiledFunction does.
namespace spanwise::python {

/// Its vectorcall slot: arguments of any library, by position and by name, become arrays; the
/// function runs; and its results are handed over in the form that was asked for. Nullptr with an
/// exception set where one of these fails.
PyObject* call_compiled(PyObject* self, PyObject* const* values, std::size_t flags,
                        PyObject* names) noexcept;

}  // namespace spanwise::python
