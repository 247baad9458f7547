// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <memory>

#include "spanwise/graph/op.hpp"
#include "spanwise/op_sdk.hpp"

/// Ops between C++ and Python. All functions need the GIL.
namespace spanwise::python {

/// Calls `op.make_thunk` and wraps the returned callable as a Thunk; with a true attribute `lazy`
/// it follows Theano's protocol of lazy thunks. Throws error_already_set, GraphError.
std::unique_ptr<Thunk> make_python_thunk(pybind11::object op, const ThunkContext& context);

/// grad= of a kernel op's declaration as a rule; empty where it is absent or None.
GradientRule gradient_rule(const pybind11::dict& declaration);

/// The C++ op of a spanwise.graph.NativeOp, or a wrapper of a Python op (an instance of
/// spanwise.Op). Throws TypeError (as pybind11::type_error) for other objects.
Ref<const Op> op_from(pybind11::handle op);
/// The inverse: the Python object of a wrapped Python op, else a new NativeOp, or KernelOp for an
/// op of sw.kernel_op().
pybind11::object op_object(const Ref<const Op>& op);

}  // namespace spanwise::python
