// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include "spanwise/bridge.hpp"
#include "spanwise/core/interpreter_lock.hpp"

/// Python objects in bridges. Installed as spanwise/python/objects.hpp. Needs the GIL, and the
/// package `spanwise` to be imported.
namespace spanwise::python {

/// A new reference to `object` that keeps foreign memory alive. The last array over the memory
/// drops it, on any thread; after the interpreter has ended it is leaked.
inline ForeignOwner python_owner(PyObject* object) {
  return ForeignOwner(object_binding().release, Py_NewRef(object));
}

/// Takes a new reference. Throws the Python error that is set if it is null.
inline pybind11::object owned(PyObject* reference) {
  if (reference == nullptr) throw pybind11::error_already_set();
  return pybind11::reinterpret_steal<pybind11::object>(reference);
}

/// A new spanwise.Array around `array`, to pass to a function of a library.
inline pybind11::object object_of(const Array& array) {
  return owned(object_binding().wrap(array));
}

}  // namespace spanwise::python
