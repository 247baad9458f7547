// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include "spanwise/runtime/kernel_types.hpp"

namespace spanwise::python {

/// The extents of a grid or block from an integer, or a sequence of one to three integers (objects
/// with __index__). Missing extents are 1. `argument` is its name in messages. Throws
/// KernelArgumentError.
Dim3 dim3_from(PyObject* object, const char* argument);

/// `object` as an integer, by __index__; `argument` is its name in messages. Throws
/// KernelArgumentError.
std::int64_t int64_from(PyObject* object, const char* argument);

}  // namespace spanwise::python
