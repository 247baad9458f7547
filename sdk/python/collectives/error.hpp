// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

namespace spanwise::python {

/// spanwise.CollectiveError. Set by module initialisation, constant afterwards.
extern PyObject* collective_error;

}  // namespace spanwise::python
