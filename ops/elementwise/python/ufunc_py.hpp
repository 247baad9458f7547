// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include <optional>

#include "../table.hpp"
#include "python/array/order.hpp"
#include "spanwise/array.hpp"
#include "spanwise/export.hpp"

/// Calling an elementwise operation from Python.
namespace spanwise::python {

/// What numpy.ufunc takes besides the operands.
struct CallOptions {
  PyObject* out = nullptr;    ///< borrowed; null or None: a new array
  PyObject* where = nullptr;  ///< borrowed; null: everywhere
  std::optional<DType> dtype{};
  Casting casting = Casting::same_kind;
  Order order = Order::k;
};

/// The result as a new reference: an Array, `options.out`, or a Variable where an operand is one.
/// Throws what NumPy would complain of as the error family, BridgeError for operands that are no
/// arrays, pybind11::error_already_set. Large work is done without the GIL.
PyObject* call_ufunc(ops::OpId op, PyObject* const* operands, const CallOptions& options);

/// An operand that is a Python number without a dtype of its own (NEP 50).
bool is_python_number(PyObject* value) noexcept;

}  // namespace spanwise::python
