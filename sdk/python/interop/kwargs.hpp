// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include <initializer_list>

#include "spanwise/copy.hpp"

/// Arguments of METH_FASTCALL | METH_KEYWORDS functions, without pybind11 on the way.
namespace spanwise::python {

struct KeywordArg {
  const char* name;
  PyObject** value;  ///< borrowed; null where absent or None
};

/// Reads arguments after `first` positional ones that the caller reads itself: all further ones by
/// name. Throws TypeError (as pybind11::type_error) for what does not fit.
void parse_kwargs(const char* who, PyObject* const* values, Py_ssize_t count, PyObject* names,
                  Py_ssize_t first, std::initializer_list<KeywordArg> words);

/// copy=: null (None) if needed, True always, False never.
CopyMode copy_mode_in(PyObject* copy);
/// copyif=: null or False never, True if needed.
CopyMode copyif_mode_in(PyObject* copyif);

}  // namespace spanwise::python
