// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

/// Containers and modules as they are now, in references of our own. Code that runs while they are
/// read (an item's __index__ or __array__, another thread) may change the container itself, so a
/// borrowed item or a remembered length of it is not valid. tests/architecture enforces the use.
namespace spanwise::python {

/// The items of `sequence` in a tuple; an exact tuple is its own snapshot. Throws what iterating it
/// raises, TypeError for an object that is not iterable.
inline pybind11::tuple items_of(PyObject* sequence) {
  PyObject* items = PySequence_Tuple(sequence);
  if (items == nullptr) throw pybind11::error_already_set();
  return pybind11::reinterpret_steal<pybind11::tuple>(items);
}

/// The entries of a mapping in a dict that no other code can reach. Throws what dict(mapping)
/// raises, TypeError for an object that is no mapping.
inline pybind11::dict entries_of(PyObject* mapping) {
  PyObject* entries = PyObject_CallOneArg(reinterpret_cast<PyObject*>(&PyDict_Type), mapping);
  if (entries == nullptr) throw pybind11::error_already_set();
  return pybind11::reinterpret_steal<pybind11::dict>(entries);
}

/// The module if the program has imported it, else null. Leaves no Python error.
inline pybind11::object loaded_module(const char* name) noexcept {
  PyObject* module = PyDict_GetItemString(PyImport_GetModuleDict(), name);  // held in the next line
  return pybind11::reinterpret_borrow<pybind11::object>(module);
}

}  // namespace spanwise::python
