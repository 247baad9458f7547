// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unordered_set>
#include <vector>

#include "graph/order.hpp"
#include "spanwise/core/device.hpp"

namespace spanwise::graph {

using NodeSet = std::unordered_set<const Apply*>;

/// Whether the outputs of `node` have few elements by their types: rank 0, or rank 1 with a fixed
/// extent of at most max_rank, as a shape has.
bool outputs_are_few_numbers(const Apply& node);

/// The nodes that compute few numbers on the host from constants and from the shapes of inputs and
/// shared values alone, so that their results are valid as long as these shapes do not change.
/// Leaves out nodes with an output in `escaping`, the variables whose buffers the function returns,
/// and those whose output another node overwrites. `inputs` are those of the function; `nodes` are
/// in topological order.
NodeSet shape_nodes(const std::vector<Ref<Apply>>& nodes, const VariableSet& inputs,
                    const VariableSet& escaping, Device fallback);

}  // namespace spanwise::graph
