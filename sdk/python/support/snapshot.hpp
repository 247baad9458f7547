// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include "spanwise/python/bridge_kit.hpp"

/// Owned copies of containers, and owned references to modules. Code that runs while a container is
/// read (an item's __index__ or __array__, another thread) may change it, which invalidates
/// borrowed items and its length. tests/architecture enforces the use of these functions.
namespace spanwise::python {

/// The items of `sequence` as a tuple; an exact tuple itself, since tuples do not change. Throws
/// the errors of iterating it, TypeError for an object that is not iterable.
inline pybind11::tuple items_of(PyObject* sequence) { return owned(PySequence_Tuple(sequence)); }

/// A new dict with the entries of a mapping, to which no other code has a reference. Throws the
/// errors of dict(mapping), TypeError for an object that is no mapping.
inline pybind11::dict entries_of(PyObject* mapping) {
  return owned(PyObject_CallOneArg(reinterpret_cast<PyObject*>(&PyDict_Type), mapping));
}

/// sys.modules[name], or null if it is not imported. Leaves no Python error.
inline pybind11::object loaded_module(const char* name) noexcept {
  PyObject* module = PyDict_GetItemString(PyImport_GetModuleDict(), name);  // borrowed
  return pybind11::reinterpret_borrow<pybind11::object>(module);
}

}  // namespace spanwise::python
