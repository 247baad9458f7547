// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include <optional>

#include "spanwise/array.hpp"

/// Python numbers and nested sequences of them (and of arrays) as new arrays.
namespace spanwise::python {

/// Numbers, lists, tuples and other sequences; not text, and not what a bridge serves.
bool is_nested_sequence(PyObject* object) noexcept;

/// A new C-contiguous array on `device`. Without `dtype` NumPy 2's rule decides: bool, int64
/// (uint64 for what only that holds), float64, complex128, joined by promote() with the dtypes of
/// arrays among the elements; float64 where there are no elements. Throws ArgumentError for ragged
/// nesting (saying where), DTypeError for elements that are no numbers, OverflowError (as
/// pybind11::error_already_set) for integers that fit no dtype, BridgeError for lazy arrays among
/// the elements without `may_compute`.
Array array_from_sequence(PyObject* object, std::optional<DType> dtype, Device device,
                          bool may_compute);

}  // namespace spanwise::python
