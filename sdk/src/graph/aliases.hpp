// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "graph/order.hpp"
#include "spanwise/graph/variable.hpp"

/// Which variables share memory, as the ops' view_map and destroy_map declare it.
namespace spanwise::graph {

using Variables = std::vector<Variable>;

/// The variables whose memory `variable` may view, through any number of views, each once; itself
/// alone where it views nothing. An output that overwrites an input starts anew: the memory has
/// another meaning from there on. Throws GraphError where a map names an input that the node lacks.
Variables viewed(const Variable& variable, const VariableSet& boundary);
/// The same through overwritten inputs too: whose buffers it may have.
Variables buffers_of(const Variable& variable, const VariableSet& boundary);

/// The inputs that `variable` may view or overwrite, one step towards its buffers.
Variables base_buffer(const Variable& variable, const VariableSet& boundary);

/// `outputs` of a graph in which no node overwrites a result of the function or what is not its
/// own: an input that is not among `mutable_inputs`, a constant, a shared variable. Where one
/// would, it gets a copy.
std::vector<Variable> protect(std::span<const Variable> outputs, const VariableSet& inputs,
                              const VariableSet& mutable_inputs);

/// Which node must run before which because the second overwrites what the first reads.
std::vector<Before> readers_first(const std::vector<Ref<Apply>>& nodes, const VariableSet& inputs);

}  // namespace spanwise::graph
