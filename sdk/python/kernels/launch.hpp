// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include <cstddef>

#include "spanwise/kernel.hpp"

namespace spanwise::python {

/// Reads block=, grid=, shared= and stream= of a vectorcall into `config`. Throws
/// KernelArgumentError for other names, ArgumentError for a stream of another device. True where
/// block= was among them.
bool read_keywords(PyObject* names, PyObject* const* values, const Kernel& function,
                   LaunchConfig& config);

/// Launches with `count` Python arguments. The GIL is released where this may wait: on the CPU,
/// whose kernels are done when this returns, around copies of host arrays, and under
/// launch_blocking.
void launch(const Kernel& function, const LaunchConfig& config, PyObject* const* values,
            std::size_t count);

}  // namespace spanwise::python
