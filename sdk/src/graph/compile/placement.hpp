// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "graph/order.hpp"
#include "spanwise/device.hpp"
#include "spanwise/graph/variable.hpp"

/// The device of each value of a function. `fallback` is the function's device, used where no type
/// specifies one.
namespace spanwise::graph {

/// The device that all outputs' types specify, else `fallback`.
Device device_of(const Apply& node, Device fallback);
Device device_of(const Variable& variable, const VariableSet& inputs, Device fallback);

/// Rebuilds the graph so that every node's inputs are on the node's device, inserting the necessary
/// transfers. Transfers written by the user stay where they move a value. `targets`: the required
/// device of each output, if any.
std::vector<Variable> placed(std::span<const Variable> outputs, const VariableSet& inputs,
                             Device fallback, std::span<const std::optional<Device>> targets);

}  // namespace spanwise::graph
