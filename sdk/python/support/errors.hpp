// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include <exception>

/// The Python exception classes, and the translation of C++ exceptions into them. raise_current(),
/// which slots use, is in support/array.hpp.
namespace spanwise::python {

/// The classes, for code that sets a Python error without throwing, such as the end of an
/// iteration. Set by module initialisation, constant afterwards.
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
  PyObject* kernel_fault = nullptr;
  PyObject* out_of_memory = nullptr;
  PyObject* graph = nullptr;
  PyObject* input = nullptr;
  PyObject* not_supported = nullptr;
};
extern ErrorClasses errors;

/// Sets the Python error for `exception`. Returns false, and sets none, if it is neither a Spanwise
/// error nor one of pybind11's.
bool set_error(const std::exception_ptr& exception) noexcept;

}  // namespace spanwise::python
