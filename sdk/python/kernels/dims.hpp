// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include "spanwise/runtime/kernel_types.hpp"

namespace spanwise::python {

/// The extents of a grid or block from an integer, or a sequence of one to three integers (objects
/// with __index__). Missing extents are 1. `what` names the argument in messages. Throws
/// KernelArgumentError.
Dim3 dim3_from(PyObject* object, const char* what);

/// `object` as an integer, by __index__; `what` names the argument in messages. Throws
/// KernelArgumentError.
std::int64_t int64_from(PyObject* object, const char* what);

}  // namespace spanwise::python
