// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include <optional>

#include "elementwise_table.hpp"
#include "python/array/array_copies.hpp"
#include "spanwise/core/array.hpp"
#include "spanwise/core/export.hpp"

/// Calls of elementwise operations from Python.
namespace spanwise::python {

/// The options of a call, as for numpy.ufunc.
struct CallOptions {
  PyObject* out = nullptr;    ///< borrowed; null or None: a new array
  PyObject* where = nullptr;  ///< borrowed; null: all elements
  std::optional<DType> dtype{};
  Casting casting = Casting::same_kind;
  ArrayOrder order = ArrayOrder::k;
};

/// The result as a new reference: an Array, `options.out`, or a Variable if an operand is one.
/// Throws spanwise::Error where NumPy raises an error, BridgeError for operands that are not
/// arrays, and pybind11::error_already_set. Releases the GIL for large arrays.
PyObject* call_ufunc(ops::OpId op, PyObject* const* operands, const CallOptions& options);

}  // namespace spanwise::python
