// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>
#include <pybind11/pybind11.h>

namespace spanwise::python {

/// As raise_current(), but InputError becomes spanwise.InputError. For slots of graph types.
PyObject* raise_graph_error() noexcept;

/// The result of `f` as a new reference; null with a Python error set if it throws.
template <class F>
PyObject* result_or_error(F&& f) noexcept {
  try {
    return pybind11::object(f()).release().ptr();
  } catch (...) {
    return raise_graph_error();
  }
}

}  // namespace spanwise::python
