// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

namespace spanwise::python {

/// Who answers keys that hold an index array, a list or a mask: set once, by the op family that
/// does, while the module is being initialised. All throw. `key` is a tuple or a single part.
struct ArrayIndexing {
  /// What read() gives where that is a few elements of a vector by an index array, else null
  /// without a Python error. `key` is anything but a tuple.
  PyObject* (*try_take_small)(PyObject* self, PyObject* key) = nullptr;
  PyObject* (*read)(PyObject* self, PyObject* key) = nullptr;
  void (*assign)(PyObject* self, PyObject* key, PyObject* value) = nullptr;
  /// numpy.ufunc.at for the operation of that name: `key` is what stands between brackets.
  void (*accumulate)(const char* name, PyObject* self, PyObject* key, PyObject* value) = nullptr;
};
extern ArrayIndexing array_indexing;

/// Whether `part`, which is no Array, bool or list, is one integer: it has an __index__ and, where
/// it is an array of rank 0, an integer dtype. PyTorch's masks of rank 0 have an __index__ as well.
bool is_integer_index(PyObject* part);

/// Throws BoundsError for what is no part of an index, naming its type.
[[noreturn]] void refuse_index(PyObject* part);

}  // namespace spanwise::python
