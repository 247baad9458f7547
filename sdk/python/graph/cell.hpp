// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>
#include <pybind11/pybind11.h>

#include <string>

#include "spanwise/graph/op.hpp"

/// The cells of storage_map and compute_map for Python thunks: each behaves like a list of one
/// element. The element of a storage cell is None or an Array, that of a compute cell a bool.
namespace spanwise::python {

/// The type and device that a value stored in a cell must have.
struct CellInfo {
  TensorType type;
  Device device;
  std::string label;  ///< prefix of error messages: "Op(x, y): output 0"
};

/// New references; throw error_already_set.
pybind11::object make_storage_cell(Ref<Cell> cell, CellInfo info);
pybind11::object make_compute_cell(Ref<Cell> cell);

}  // namespace spanwise::python
