// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include <exception>

/// The Python classes of the error family, and how a C++ exception becomes one of them.
/// raise_current(), which slots use, is in support/array.hpp.
namespace spanwise::python {

/// The classes; set while the module is being initialised, never changed after. For code that
/// raises without a C++ exception on the way, such as the end of an iteration.
struct ErrorClasses {
  PyObject* error = nullptr;
  PyObject* argument = nullptr;
  PyObject* layout = nullptr;
  PyObject* axis = nullptr;
  PyObject* bounds = nullptr;
  PyObject* dtype = nullptr;
  PyObject* copy_needed = nullptr;
  PyObject* read_only = nullptr;
  PyObject* bridge = nullptr;
  PyObject* kernel_argument = nullptr;
  PyObject* compile = nullptr;
  PyObject* device = nullptr;
  PyObject* out_of_memory = nullptr;
  PyObject* graph = nullptr;
  PyObject* not_supported = nullptr;
};
extern ErrorClasses errors;

/// Sets the Python error for `exception`; false (and nothing set) where it is no Spanwise error.
bool set_error(const std::exception_ptr& exception) noexcept;

}  // namespace spanwise::python
