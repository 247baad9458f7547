// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <string>

#include "spanwise/graph/op.hpp"
#include "variable.hpp"

// A node's reference count is its own, so any number of holders may be made from the pointer.
PYBIND11_DECLARE_HOLDER_TYPE(T, spanwise::Ref<T>, true)

namespace spanwise::python {

/// A Python op for the graph, or the C++ op that a spanwise.graph.NativeOp stands for. Throws
/// GraphError for anything else. Needs the GIL.
Ref<const Op> op_from(pybind11::handle op);
/// The other way: the Python object itself, or a NativeOp.
pybind11::object op_object(const Ref<const Op>& op);

}  // namespace spanwise::python
