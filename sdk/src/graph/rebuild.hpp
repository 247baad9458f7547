// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/order.hpp"
#include "spanwise/graph/variable.hpp"

namespace spanwise::graph {

/// Builds a graph again with other variables in place of some. What does not depend on a replaced
/// variable stays as it is; the graph that was given is never changed.
class Rebuild {
 public:
  /// From now on, `by` stands where `variable` stood.
  void replace(const Variable& variable, const Variable& by) {
    now_.insert_or_assign(variable, by);
  }
  /// What stands for `variable` now.
  const Variable& now(const Variable& variable) const;
  std::vector<Variable> now(std::span<const Variable> variables) const;
  /// Makes `node` again where one of its inputs changed, and lets the new outputs stand for the
  /// old. Call in the nodes' order. Throws GraphError where the op will not take the new inputs.
  void visit(const Apply& node) { visit(node, now(node.inputs())); }
  /// The same with inputs of the caller's choice.
  void visit(const Apply& node, std::vector<Variable> inputs);
  /// The same without asking the op again: for inputs that may differ in where they are and in how
  /// much is known of their extents, and in nothing else.
  void visit_as_is(const Apply& node, std::vector<Variable> inputs);
  /// The same with `op` in the place of the node's, which gives outputs of the same types.
  void visit_with(const Apply& node, const Ref<const Op>& op, std::vector<Variable> inputs);

 private:
  std::unordered_map<Variable, Variable> now_;
};

/// `outputs` with the first of each pair replaced by the second. Throws GraphError where a pair's
/// types differ or its first is an input.
std::vector<Variable> apply_givens(std::span<const Variable> outputs,
                                   const std::vector<std::pair<Variable, Variable>>& givens,
                                   std::span<const Variable> inputs);

}  // namespace spanwise::graph
