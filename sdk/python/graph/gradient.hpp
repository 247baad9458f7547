// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "pybind11/pybind11.h"
#include "spanwise/graph/cotangent.hpp"
#include "spanwise/graph/variable.hpp"
#include "spanwise/op_sdk.hpp"

namespace spanwise::python {

/// spanwise._graph.op_gradient.
pybind11::module_ op_gradient_module();
/// The spanwise.graph.Apply of `node`.
pybind11::object apply_object(const Apply& node);
/// Each as a Variable, or None where it is disconnected.
pybind11::list list_of(std::span<const Cotangent> cotangents);
/// From what the functions of op_gradient_module() return: a Variable, None for a disconnected one,
/// or the reason why it is undefined as text.
std::vector<Cotangent> cotangents_from(const pybind11::object& items);
/// grad= of a kernel op's declaration as a rule; none where it is None.
GradientRule gradient_rule(const pybind11::dict& declaration);

}  // namespace spanwise::python
