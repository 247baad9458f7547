// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "graph/order.hpp"
#include "spanwise/graph/function.hpp"

/// What function() refuses; `name` is the function's, for the messages.
namespace spanwise::graph {

void check_inputs(const std::string& name, const std::vector<Variable>& inputs);
void check_outputs(const std::string& name, const std::vector<Variable>& outputs);
void check_updates(const std::string& name, const FunctionOptions& options);
/// Raises or warns where an input is not needed by `outputs`.
void check_unused(const std::string& name, const std::vector<Variable>& inputs,
                  std::span<const Variable> outputs, UnusedInput how);

}  // namespace spanwise::graph
