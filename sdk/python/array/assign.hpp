// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include "spanwise/core/array.hpp"

namespace spanwise::python {

/// target[...] = value: a Python number, an array of any library on any device, or nested lists. It
/// is broadcast and cast to the target; the two may overlap. Throws ReadOnlyError, LayoutError and
/// the errors of scalar_from() and the bridges. Waits without the GIL.
void assign(const Array& target, PyObject* value);

/// target[...] = source. Throws and waits as above.
void assign(const Array& target, const Array& source);

/// `value` as an array, to be assigned to one of `dtype`. Lists are converted to `dtype`, so that
/// numbers outside its range raise; arrays are not cast.
Array assignable(PyObject* value, DType dtype);

}  // namespace spanwise::python
