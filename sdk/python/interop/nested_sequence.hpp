// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include <optional>

#include "spanwise/core/array.hpp"

/// New arrays from Python numbers and nested sequences of numbers and arrays.
namespace spanwise::python {

/// Whether the object is a number, list, tuple or other sequence, but not text or a dict. Call it
/// only for objects that no bridge accepts: many arrays are sequences too.
bool is_nested_sequence(PyObject* object) noexcept;

/// A new C-contiguous array on `device`. The default dtype follows NumPy 2: bool, int64 (uint64 for
/// integers that only it holds), float64 or complex128, promoted with the dtypes of arrays among
/// the elements; float64 without elements. Throws ArgumentError for ragged nesting (with the
/// position), DTypeError for elements that are no numbers, OverflowError (as
/// pybind11::error_already_set) for integers that the dtype does not hold, BridgeError for lazy
/// arrays among the elements without `may_compute`.
Array array_from_sequence(PyObject* object, std::optional<DType> dtype, Device device,
                          bool may_compute);

}  // namespace spanwise::python
