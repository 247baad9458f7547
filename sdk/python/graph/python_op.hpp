// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <span>
#include <vector>

#include "spanwise/graph/op.hpp"
#include "spanwise/graph/elementwise.hpp"
#include "spanwise/graph/variable.hpp"
#include "spanwise/op_sdk.hpp"

/// Conversion of the results of a Python op's methods: thunks, gradients and element bodies. All
/// functions need the GIL.
namespace spanwise::python {

/// Calls `op.make_thunk` and wraps the returned callable as a Thunk; with a true attribute `lazy`
/// it follows Theano's protocol of lazy thunks. Throws error_already_set, GraphError.
std::unique_ptr<Thunk> make_python_thunk(pybind11::object op, const ThunkContext& context);

/// The body that the Python op `op` declares for `node`; null where it has none.
std::shared_ptr<const ElementBody> element_body_of(const pybind11::object& op, const Apply& node);

/// spanwise.graph._gradient.
pybind11::module_ op_gradient_module();
/// The spanwise.graph.Apply of `node`.
pybind11::object apply_object(const Apply& node);
/// Each as a Variable, or None where it is disconnected.
pybind11::list list_of(std::span<const Cotangent> cotangents);
/// From the items that functions of op_gradient_module() return: a Variable, None for a
/// disconnected one, or text, the reason why it is undefined.
std::vector<Cotangent> cotangents_from(const pybind11::object& items);
/// grad= of a kernel op's declaration as a rule; empty where it is absent or None.
GradientRule gradient_rule(const pybind11::dict& declaration);

}  // namespace spanwise::python
