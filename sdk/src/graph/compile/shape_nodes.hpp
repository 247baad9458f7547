// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unordered_set>
#include <vector>

#include "graph/order.hpp"
#include "spanwise/device.hpp"

namespace spanwise::graph {

using NodeSet = std::unordered_set<const Apply*>;

/// The nodes that compute few numbers on the host from the shapes of inputs and shared values and
/// from constants alone, so that their results hold as long as those shapes do. `inputs`: those of
/// the function; `escaping`: variables whose buffers the function returns, which are left out, as
/// are those that a node overwrites. `nodes` are in topological order.
NodeSet shape_nodes(const std::vector<Ref<Apply>>& nodes, const VariableSet& inputs,
                    const VariableSet& escaping, Device fallback);

}  // namespace spanwise::graph
