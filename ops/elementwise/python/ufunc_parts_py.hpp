// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>
#include <pybind11/pybind11.h>

#include "../table.hpp"

/// Parts of the type spanwise.ufunc.
namespace spanwise::python {

/// numpy.ufunc.at: accumulates `value` into the elements of `target` that `key` selects.
void accumulate_at(ops::OpId op, PyObject* target, PyObject* key, PyObject* value);

/// numpy.ufunc.types: "dd->d".
pybind11::list types_of(ops::OpId op);
/// numpy.ufunc.identity.
pybind11::object identity_of(ops::OpId op);

}  // namespace spanwise::python
