// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include <cstdint>

#include "spanwise/array.hpp"

/// Single elements of arrays, read and written by keys that name one.
namespace spanwise::python {

/// A new reference to a new array of rank 0 that holds a copy of the element `offset` elements from
/// the start of the storage, in memory of its own on the same device. Ordered on the device's
/// current stream. Null with a Python error set when out of memory; throws the errors of copy().
PyObject* wrap_element(const Array& array, std::int64_t offset);

/// a[key] where `key` is an int, or a tuple of ints, one for each axis: a new reference as from
/// wrap_element(). Null without a Python error for any other key, and for indices outside.
PyObject* try_element(const Array& array, PyObject* key);

/// a[key] = value where `key` is one of try_element()'s, `value` a Python number, and the memory
/// the host's own. False, and nothing has changed, in any other case; throws what scalar_from()
/// throws.
bool try_assign_element(const Array& array, PyObject* key, PyObject* value);

}  // namespace spanwise::python
