// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "graph/order.hpp"
#include "spanwise/device.hpp"
#include "spanwise/graph/variable.hpp"

/// The device of each value of a function. `home` is the function's device, used where no type
/// specifies one.
namespace spanwise::graph {

/// The device that all outputs' types specify, else `home`.
Device device_of(const Apply& node, Device home);
Device device_of(const Variable& variable, const VariableSet& inputs, Device home);

/// Rebuilds the graph so that every node's inputs are on the node's device, inserting the necessary
/// transfers. Transfers written by the user stay where they move a value. `targets`: the required
/// device of each output, if any.
std::vector<Variable> placed(std::span<const Variable> outputs, const VariableSet& inputs,
                             Device home, std::span<const std::optional<Device>> targets);

}  // namespace spanwise::graph
