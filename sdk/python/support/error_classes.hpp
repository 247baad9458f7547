// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <exception>
#include <string>

/// The Python exception classes, and the translation of C++ exceptions into them.
namespace spanwise::python {

/// The classes, for code that sets a Python error without throwing, such as the end of an
/// iteration. Set by module initialisation, constant afterwards.
struct ErrorClasses {
  PyObject *bounds = nullptr, *dtype = nullptr, *graph = nullptr;
};
extern ErrorClasses errors;

/// Sets the Python error for `exception`. Returns false, and sets none, if it is neither a Spanwise
/// error nor one of pybind11's.
bool try_set_error(const std::exception_ptr& exception) noexcept;
/// ObjectBinding::raise_current.
void set_current_error() noexcept;

/// "5 of type int": the first 60 characters of the object's repr(), and its type, for messages.
std::string value_and_type(PyObject* object);
/// Gives the functions and classes of `module` that pybind11 binds a signature that
/// inspect.signature() reads, and makes them raise TypeError with the library's kind of text for
/// arguments of other types than their parameters.
void explain_functions(const pybind11::module_& module);
/// pybind11's signature of a function, with types, for scripts/make_stubs.py; "" if it has none.
std::string typed_signature(const pybind11::handle& function);

}  // namespace spanwise::python
