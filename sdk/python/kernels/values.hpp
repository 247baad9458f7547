// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include <optional>
#include <string>
#include <variant>

#include "spanwise/kernels/kernel.hpp"

namespace spanwise::python {

/// The bytes of a struct.
using ValueBytes = std::string;

/// NumPy scalars (structured ones as bytes), ctypes numbers, structs and pointers, bytes objects,
/// and complex numbers as kernel arguments; nothing for other objects. Throws DTypeError for a
/// NumPy scalar of an unsupported dtype. Needs the GIL.
std::optional<std::variant<KernelArg, ValueBytes>> value_from(PyObject* object);

/// Fast path: a scalar of one of NumPy's types that value_from() has converted before, read without
/// calling Python; nothing for other objects. Needs the GIL.
std::optional<KernelArg> cached_type_number(PyObject* object);

/// A Python int as int64, or as uint64 if it exceeds int64. Throws KernelArgumentError.
KernelArg integer_argument(PyObject* object);

}  // namespace spanwise::python
