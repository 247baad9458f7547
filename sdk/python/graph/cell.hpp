// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>
#include <pybind11/pybind11.h>

#include <string>

#include "spanwise/graph/op.hpp"

/// A cell of the storage map as a Python thunk sees it: like a list of one element, which is None
/// or an Array. Its twin shows the compute map's entry, a bool.
namespace spanwise::python {

/// What a value put into a cell has to be, and who is told otherwise.
struct CellPlace {
  TensorType type;
  Device device;
  std::string label;  ///< "Op(x, y): output 0"
};

/// New references; throw error_already_set.
pybind11::object make_storage_cell(Ref<Cell> cell, CellPlace place);
pybind11::object make_compute_cell(Ref<Cell> cell);

}  // namespace spanwise::python
