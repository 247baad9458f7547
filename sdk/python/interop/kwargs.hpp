// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include <initializer_list>

#include "spanwise/copy.hpp"

/// Argument parsing of METH_FASTCALL | METH_KEYWORDS functions.
namespace spanwise::python {

struct KeywordArg {
  const char* name;
  PyObject** value;  ///< borrowed; null where absent or None
};

/// Reads the keyword arguments `words` of a call with exactly `first` positional arguments, which
/// the caller reads itself. Throws TypeError (as pybind11::type_error) for others.
void parse_kwargs(const char* who, PyObject* const* values, Py_ssize_t count, PyObject* names,
                  Py_ssize_t first, std::initializer_list<KeywordArg> words);

/// copy=: null (absent or None) if_needed, True always, False never.
CopyMode copy_mode_in(PyObject* copy);
/// copyif=: null (absent or None) or False never, True if_needed.
CopyMode copyif_mode_in(PyObject* copyif);

}  // namespace spanwise::python
