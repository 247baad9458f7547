// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include <optional>
#include <string>
#include <variant>

#include "spanwise/kernel.hpp"

namespace spanwise::python {

/// A value by its bytes: a struct.
using ValueBytes = std::string;

/// NumPy scalars (structured ones as bytes), ctypes numbers, structs and pointers, bytes, and
/// complex numbers as kernel arguments; nothing for what is no value. Throws DTypeError for a NumPy
/// scalar whose type no kernel parameter has. Needs the GIL.
std::optional<std::variant<KernelArg, ValueBytes>> value_from(PyObject* object);

/// A number of one of NumPy's types that value_from() has met before, read without a question to
/// Python; nothing for all else. Needs the GIL.
std::optional<KernelArg> known_number(PyObject* object);

/// A Python int: as itself, or as uint64 where only that holds it. Throws KernelArgumentError.
KernelArg integer_argument(PyObject* object);

}  // namespace spanwise::python
