// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include <cstddef>

#include "spanwise/kernels/kernel.hpp"

namespace spanwise::python {

/// Reads block=, grid=, shared=, stream=, cooperative= and cluster= of a vectorcall into `config`.
/// Returns whether block= was given. Throws KernelArgumentError for other names, ArgumentError for
/// a stream of another device.
bool read_keywords(PyObject* names, PyObject* const* values, const Kernel& kernel,
                   LaunchConfig& config);

/// Launches with `count` Python arguments. Releases the GIL if the launch may wait: on the CPU,
/// whose kernels are complete on return, for copies of host arrays, and with
/// config.launch_blocking.
void launch(const Kernel& kernel, const LaunchConfig& config, PyObject* const* values,
            std::size_t count);

}  // namespace spanwise::python
