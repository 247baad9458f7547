// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "spanwise/graph/variable.hpp"

namespace spanwise::graph {

using VariableSet = std::unordered_set<Variable>;

/// `variables` without repetitions, in order of first occurrence.
std::vector<Variable> distinct(std::span<const Variable> variables);

/// The nodes that `outputs` depend on, in topological order (depth-first). Variables in `boundary`
/// are treated as inputs: their owners are not visited.
std::vector<Ref<Apply>> nodes_for(std::span<const Variable> outputs, const VariableSet& boundary);

/// {first, then}: positions in a list of nodes; the node at `first` must run before that at `then`.
using OrderEdge = std::pair<int, int>;

/// The order of the nodes of SequencedOps. Throws GraphError where a node of an earlier position
/// depends on one of a later.
std::vector<OrderEdge> sequences(const std::vector<Ref<Apply>>& nodes);

/// Reorders `nodes`, which are in topological order, as little as possible so that `edges` hold
/// too. Throws GraphError where that is impossible, naming two nodes that would each have to run
/// before the other.
std::vector<Ref<Apply>> reorder(const std::vector<Ref<Apply>>& nodes,
                                const std::vector<OrderEdge>& edges);

}  // namespace spanwise::graph
