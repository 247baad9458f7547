// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include <cstdint>

#include "spanwise/core/array.hpp"

/// Fast paths for reading and writing single elements.
namespace spanwise::python {

/// A new reference to a new array of rank 0 on the same device, with a copy of the element at
/// `offset` (in elements from the start of the storage). The copy is made on the device's current
/// stream. Null with a Python error when out of memory; throws the errors of copy().
PyObject* wrap_element(const Array& array, std::int64_t offset);

/// a[key] for a `key` of exact ints, one for each axis (an int or a tuple): a new reference as from
/// wrap_element(). Null without a Python error for any other key, and for out-of-range indices.
PyObject* try_element(const Array& array, PyObject* key);

/// a[key] = value for a `key` as in try_element() and a Python number, if the array is writable and
/// on the host without pending work. Returns false, without a change, in all other cases; throws
/// the errors of scalar_from().
bool try_assign_element(const Array& array, PyObject* key, PyObject* value);

}  // namespace spanwise::python
