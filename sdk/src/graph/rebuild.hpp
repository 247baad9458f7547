// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/order.hpp"
#include "spanwise/graph/variable.hpp"

namespace spanwise::graph {

/// Rebuilds a graph with some variables replaced. Parts that do not depend on a replaced variable
/// are reused; existing nodes are not modified.
class Rebuild {
 public:
  /// Replaces `variable` by `by`.
  void replace(const Variable& variable, const Variable& by) {
    replacements_.insert_or_assign(variable, by);
  }
  /// The replacement of `variable`, or `variable` itself.
  const Variable& current(const Variable& variable) const;
  std::vector<Variable> current(std::span<const Variable> variables) const;
  /// Recreates `node` if one of its inputs was replaced, and replaces its outputs by the new ones.
  /// Call in topological order. Throws GraphError where the op rejects the new inputs.
  void visit(const Apply& node) { visit(node, current(node.inputs())); }
  /// The same with the given inputs.
  void visit(const Apply& node, std::vector<Variable> inputs);
  /// The same without calling make_node, with outputs of the node's types: the new inputs may
  /// differ from the node's only in device and in which extents are known.
  void visit_as_is(const Apply& node) { visit_as_is(node, current(node.inputs())); }
  void visit_as_is(const Apply& node, std::vector<Variable> inputs);
  /// Replaces the outputs of `node` by those of a new node of `op`, which has outputs of the same
  /// types.
  void visit_with(const Apply& node, const Ref<const Op>& op, std::vector<Variable> inputs);

 private:
  void replace_outputs(const Apply& node, const Ref<Apply>& by);

  std::unordered_map<Variable, Variable> replacements_;
};

/// Replaces the first of each pair by the second in the graph of `outputs`. Throws GraphError where
/// the types differ or the first is an input.
std::vector<Variable> apply_givens(std::span<const Variable> outputs,
                                   const std::vector<std::pair<Variable, Variable>>& givens,
                                   std::span<const Variable> inputs);

}  // namespace spanwise::graph
