// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "spanwise/core/device.hpp"
#include "spanwise/graph/variable.hpp"

/// The nodes of a graph in an order that can run, their devices, and graphs built again with some
/// variables replaced.
namespace spanwise::graph {

using VariableSet = std::unordered_set<Variable>;
using NodeSet = std::unordered_set<const Apply*>;

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

/// The device of a node: the one that the types of all its outputs specify, else `fallback`, the
/// function's device.
Device device_of(const Apply& node, Device fallback);
/// The device of a value: its type's, else its node's. The caller passes the values of `inputs`, so
/// the node of such a variable, if any, does not determine the device.
Device device_of(const Variable& variable, const VariableSet& inputs, Device fallback);

/// Whether the outputs of `node` have few elements by their types: rank 0, or rank 1 with a fixed
/// extent of at most max_rank, as a shape has.
bool outputs_are_few_numbers(const Apply& node);

/// Whether a value may be of both types if their devices are ignored: an extent that only one of
/// them fixes may be equal.
bool may_be_equal(const TensorType& a, const TensorType& b);

}  // namespace spanwise::graph
