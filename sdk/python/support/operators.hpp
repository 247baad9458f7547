// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

namespace spanwise::python {

/// The implementation of Python's operators on arrays, set by ops/elementwise during module
/// initialisation. Functions follow CPython's contract of number and comparison slots: either
/// operand may be the array; they return a new reference, Py_NotImplemented for an unsupported
/// other operand.
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
  PyObject* (*unary)(Operator, PyObject*) noexcept;
  PyObject* (*binary)(Operator, PyObject*, PyObject*) noexcept;
  PyObject* (*in_place)(Operator, PyObject*, PyObject*) noexcept;
};
extern ArrayOperators operators_of_arrays;

/// The same for a @ b and a @= b, set by ops/linalg.
struct ArrayProducts {
  PyObject* (*matmul)(PyObject*, PyObject*) noexcept;
  PyObject* (*in_place)(PyObject*, PyObject*) noexcept;
};
extern ArrayProducts products_of_arrays;

}  // namespace spanwise::python
