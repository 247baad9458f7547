// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include "spanwise/kernels/kernel.hpp"

namespace spanwise::python {

/// A new reference to a new spanwise.KernelFunction; null with a Python error set when out of
/// memory. `origin`, borrowed, is (module, name, declarations of bind() or None), for pickling.
PyObject* wrap_kernel(Kernel kernel, PyObject* origin) noexcept;

}  // namespace spanwise::python
