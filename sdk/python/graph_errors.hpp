// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

namespace spanwise::python {

/// As raise_current(), for slots of the graph: an InputError becomes spanwise.InputError.
PyObject* raise_graph_error() noexcept;

}  // namespace spanwise::python
