// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

namespace spanwise::python {

/// What the elementwise ops put behind Python's operators on arrays, in CPython's terms for number
/// and comparison slots: either operand may be the array, a new reference comes back,
/// Py_NotImplemented where the other operand is none of ours. Set while the module is being
/// initialised; null entries are answered by Py_NotImplemented.
enum class Operator {
  add,
  subtract,
  multiply,
  divide,
  floor_divide,
  remainder,
  power,
  left_shift,
  right_shift,
  bitwise_and,
  bitwise_or,
  bitwise_xor,
  negative,
  positive,
  absolute,
  invert,
  less,
  less_equal,
  equal,
  not_equal,
  greater,
  greater_equal,  // in CPython's order
};
struct ArrayOperators {
  PyObject* (*unary)(Operator, PyObject*) noexcept = nullptr;
  PyObject* (*binary)(Operator, PyObject*, PyObject*) noexcept = nullptr;
  PyObject* (*in_place)(Operator, PyObject*, PyObject*) noexcept = nullptr;
};
extern ArrayOperators operators_of_arrays;

/// The same for a @ b and a @= b, which belong to another family of ops.
struct ArrayProducts {
  PyObject* (*matmul)(PyObject*, PyObject*) noexcept = nullptr;
  PyObject* (*in_place)(PyObject*, PyObject*) noexcept = nullptr;
};
extern ArrayProducts products_of_arrays;

}  // namespace spanwise::python
