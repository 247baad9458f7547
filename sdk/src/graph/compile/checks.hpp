// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "graph/order.hpp"
#include "spanwise/graph/function.hpp"

/// Argument checks of function(); they throw GraphError. `name` is the function's, for messages.
namespace spanwise::graph {

/// Whether a value may be of both types if their devices are ignored: an extent that only one of
/// them fixes may be equal.
bool may_be_equal(const TensorType& a, const TensorType& b);

void check_function_inputs(const std::string& name, const std::vector<Variable>& inputs);
void check_function_outputs(const std::string& name, const std::vector<Variable>& outputs);
void check_function_updates(const std::string& name, const FunctionOptions& options);
/// Throws or warns, by `how`, where no output depends on an input.
void check_used_inputs(const std::string& name, const std::vector<Variable>& inputs,
                       std::span<const Variable> outputs, UnusedInput how);

}  // namespace spanwise::graph
