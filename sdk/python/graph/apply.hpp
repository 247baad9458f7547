// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include "spanwise/graph/op.hpp"
#include "spanwise/python/binding.hpp"
#include "variable.hpp"

namespace spanwise::python {

/// The C++ op of a spanwise.graph.NativeOp, or a wrapper of a Python op (an instance of
/// spanwise.Op). Throws TypeError (as pybind11::type_error) for other objects. Needs the GIL.
Ref<const Op> op_from(pybind11::handle op);
/// The inverse: the Python object of a wrapped Python op, else a new NativeOp, or KernelOp for an
/// op of sw.kernel_op(). Needs the GIL.
pybind11::object op_object(const Ref<const Op>& op);

}  // namespace spanwise::python
