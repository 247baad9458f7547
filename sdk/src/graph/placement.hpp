// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "graph/order.hpp"
#include "spanwise/device.hpp"
#include "spanwise/graph/variable.hpp"

/// On which device each value of a function is, where no type says so: on the function's, `home`.
namespace spanwise::graph {

/// A node whose outputs are all fixed to one device runs there, others at home.
Device device_of(const Apply& node, Device home);
Device device_of(const Variable& variable, const VariableSet& inputs, Device home);

/// `outputs` of a graph in which every node finds its inputs where it runs: transfers stand where
/// they are needed and nowhere else. Those that the user wrote stay where they move anything.
/// `targets`: where outputs have to be, if anywhere.
std::vector<Variable> placed(std::span<const Variable> outputs, const VariableSet& inputs,
                             Device home, std::span<const std::optional<Device>> targets);

}  // namespace spanwise::graph
