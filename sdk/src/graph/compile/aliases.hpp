// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "graph/order.hpp"
#include "spanwise/graph/variable.hpp"

/// Alias analysis: which variables share memory, as declared by the ops' view_map and destroy_map.
/// `inputs` are those of the compiled graph: nodes that compute an input are not part of it.
namespace spanwise::graph {

using Variables = std::vector<Variable>;

/// Appends `variable` to `all` unless it is there.
void add_once(Variables& all, const Variable& variable);

/// The variables whose memory `variable` may view, directly or indirectly, each once; only itself
/// where it is not a view. Does not follow destroy_map: an output that overwrites an input holds
/// another value. Throws GraphError where a map names an input that the node does not have.
Variables viewed(const Variable& variable, const VariableSet& inputs);
/// The same, following destroy_map too: the variables whose buffers it may use.
Variables buffers_of(const Variable& variable, const VariableSet& inputs);

/// The positions of the inputs that `node` overwrites. Throws GraphError where destroy_map names an
/// input that the node does not have.
std::vector<std::size_t> overwritten_inputs(const Apply& node);

/// One step of buffers_of(): the inputs of the node that computes `variable` which it may view or
/// overwrite; none where it has a separate buffer.
Variables aliased_inputs(const Variable& variable, const VariableSet& inputs);

/// Rebuilds the graph with copies inserted, so that no node overwrites a function output, a
/// constant, a shared variable, or an input that is not in `mutable_inputs`.
std::vector<Variable> protect(std::span<const Variable> outputs, const VariableSet& inputs,
                              const VariableSet& mutable_inputs);

/// The pairs of nodes where the second overwrites memory that the first reads.
std::vector<OrderEdge> readers_first(const std::vector<Ref<Apply>>& nodes,
                                     const VariableSet& inputs);

}  // namespace spanwise::graph
