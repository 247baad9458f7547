// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include "spanwise/core/array.hpp"

/// The slots of spanwise.Array, by the file that implements them. Those that are not noexcept
/// throw, or return null or -1 with a Python error set, as CPython requires.
namespace spanwise::python {

// array_index.cpp
PyObject* array_subscript(PyObject* self, PyObject* key);
int array_assign(PyObject* self, PyObject* key, PyObject* value);
PyObject* array_item(PyObject* self, Py_ssize_t index);
Py_ssize_t array_length(PyObject* self) noexcept;
PyObject* array_iter(PyObject* self) noexcept;

// array_bytes.cpp
int array_get_buffer(PyObject* self, Py_buffer* view, int flags);
void array_release_buffer(PyObject* self, Py_buffer* view) noexcept;

// array_operators.cpp, with the operators
int array_bool(PyObject* self);
Py_hash_t array_hash(PyObject* self);
PyObject* array_index(PyObject* self);
PyObject* array_int(PyObject* self);
PyObject* array_float(PyObject* self);
PyObject* array_complex(PyObject* self);
extern PyType_Slot array_operators[];

// array_attributes.cpp
extern PyGetSetDef array_attributes[];

}  // namespace spanwise::python
