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

/// Implementation of keys that contain an index array, a list or a mask; set by ops/indexing during
/// module initialisation. All functions may throw. `key` is a tuple or a single part.
struct ArrayIndexing {
  /// Fast path of read() for a few elements of a vector by an index array; null without a Python
  /// error for other keys. `key` is no tuple.
  PyObject* (*try_take_small)(PyObject* self, PyObject* key) = nullptr;
  PyObject* (*read)(PyObject* self, PyObject* key) = nullptr;
  void (*assign)(PyObject* self, PyObject* key, PyObject* value) = nullptr;
  /// numpy.ufunc.at for the operation `name`; `key` is the index.
  void (*accumulate)(const char* name, PyObject* self, PyObject* key, PyObject* value) = nullptr;
};
extern ArrayIndexing array_indexing;

/// Whether `part`, which is no Array, bool or list, is an integer: it has an __index__, and an
/// integer dtype if it is an array of rank 0 (PyTorch's masks of rank 0 have an __index__ as well).
bool is_integer_index(PyObject* part);

/// Throws BoundsError, naming the type of `part`, which is no valid index.
[[noreturn]] void refuse_index(PyObject* part);

}  // namespace spanwise::python
