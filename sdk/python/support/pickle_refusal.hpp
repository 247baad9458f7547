// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

namespace spanwise::python {

/// Makes pickling of process-local handles (streams, kernels, caches, ...), the classes of `module`
/// without a __reduce__ of their own, raise TypeError under every protocol. object.__reduce__ does
/// so from protocol 2 on; under protocols 0 and 1 it would write an unreadable pickle, or
/// instantiate pybind11's base class, which aborts the process.
void refuse_pickling(const pybind11::module_& module);

}  // namespace spanwise::python
