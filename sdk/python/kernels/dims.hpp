// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include "spanwise/kernel_types.hpp"

namespace spanwise::python {

/// An int, or a sequence of one to three ints (Python's, NumPy's, whatever has __index__), as the
/// extents of a grid or block; `what` names the argument in messages. Extents left out are 1.
/// Throws KernelArgumentError.
Dim3 dim3_from(PyObject* object, const char* what);

/// A whole number, by __index__. Throws KernelArgumentError.
std::int64_t whole_number_from(PyObject* object, const char* what);

}  // namespace spanwise::python
