// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include "spanwise/array.hpp"

namespace spanwise::python {

/// target[...] = value: a Python number, an array of any library on any device, or nested lists;
/// broadcast and cast to the target, right under overlap. Throws ReadOnlyError, LayoutError and
/// what scalar_from() and the bridges throw. Waits without the GIL.
void assign(const Array& target, PyObject* value);

/// target[...] = source. Throws and waits as above.
void assign(const Array& target, const Array& source);

/// `value` as an array that could be assigned to something of `dtype`: lists become that dtype at
/// once, so that numbers which do not fit are found; arrays stay as they are.
Array assignable(PyObject* value, DType dtype);

}  // namespace spanwise::python
