// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "graph/order.hpp"
#include "spanwise/core/device.hpp"
#include "spanwise/graph/variable.hpp"

/// The device of each value of a function. `fallback` is the function's device, used where no type
/// specifies one.
namespace spanwise::graph {

/// The device of a node: the one that the types of all its outputs specify, else `fallback`.
Device device_of(const Apply& node, Device fallback);
/// The device of a value: its type's, else its node's. The caller passes the values of `inputs`, so
/// the node of such a variable, if any, does not determine the device.
Device device_of(const Variable& variable, const VariableSet& inputs, Device fallback);

/// Rebuilds the graph so that every node's inputs are on the node's device, inserting the necessary
/// transfers. A transfer written by the user is removed if its input is on the target already.
/// `targets`: the required device of each output, if any. Returns the outputs of the new graph.
std::vector<Variable> placed(std::span<const Variable> outputs, const VariableSet& inputs,
                             Device fallback, std::span<const std::optional<Device>> targets);

}  // namespace spanwise::graph
