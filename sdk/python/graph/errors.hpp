// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>
#include <pybind11/pybind11.h>

namespace spanwise::python {

/// As raise_current(), for slots of the graph: an InputError becomes spanwise.InputError.
PyObject* raise_graph_error() noexcept;

/// What an expression that may throw gives, as a slot of a type returns it.
template <class F>
PyObject* answered(F&& f) noexcept {
  try {
    return pybind11::object(f()).release().ptr();
  } catch (...) {
    return raise_graph_error();
  }
}

}  // namespace spanwise::python
