// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <vector>

#include "spanwise/core/error.hpp"
#include "spanwise/graph/op.hpp"
#include "spanwise/graph/rewrite.hpp"

namespace spanwise::graph {

/// Whether values of the two types may have the same shape, and the types fix the extent 1, along
/// which a value is broadcast, on the same axes.
inline bool have_equal_patterns(const TensorType& a, const TensorType& b) {
  if (a.rank() != b.rank()) return false;
  for (int axis = 0; axis < a.rank(); ++axis) {
    const std::int64_t m = a.shape()[axis], n = b.shape()[axis];
    const bool is_any = m == TensorType::any || n == TensorType::any;
    if (is_any ? (m == 1 || n == 1) : m != n) return false;
  }
  return true;
}

/// The type of values of both types; extents that both fix are equal.
inline TensorType common_type(const TensorType& a, const TensorType& b) {
  Shape shape = a.shape();
  for (int axis = 0; axis < a.rank(); ++axis)
    if (shape[axis] == TensorType::any) shape[axis] = b.shape()[axis];
  return TensorType(a.dtype(), shape, a.device());
}

/// The types of the outputs of nodes that may be in a group.
///
/// Rewrites replace inputs by variables whose types fix more extents, and leave the type of the
/// node as it was. An extent that is 1 by the types of all inputs would then be taken for one that
/// the call determines, so the types are inferred from the inputs again.
class GroupTypes {
 public:
  explicit GroupTypes(const FusionRewrite& rewrite) : rewrite_(rewrite) {}

  /// The type of the node's output; nullopt for a node that may not be in a group. Call in
  /// topological order.
  std::optional<TensorType> of(const Apply& node) {
    if (node.output_count() != 1 || !rewrite_.accepts(node)) return std::nullopt;
    const TensorType& declared = node.output(0).type();
    if (!may_have_narrower_type(node)) return declared;
    std::vector<Variable> inputs;
    for (const Variable& input : node.inputs())
      inputs.push_back(narrower_.contains(input) ? Variable(narrower_.at(input)) : input);
    const Ref<Apply> result = try_make_node(node, inputs);
    if (!result) return declared;
    if (!rewrite_.accepts(*result)) return std::nullopt;
    TensorType type = common_type(declared, result->output(0).type());
    if (type != declared) narrower_.emplace(node.output(0), type);
    return type;
  }

 private:
  // Null where the op rejects the inputs, which is an error when the function is called.
  static Ref<Apply> try_make_node(const Apply& node, const std::vector<Variable>& inputs) {
    try {
      return node.op().make_node(inputs);
    } catch (const Error&) {
      return {};
    }
  }

  // False where each extent that the declared type leaves open is open in an input, too.
  bool may_have_narrower_type(const Apply& node) const {
    const TensorType& declared = node.output(0).type();
    if (declared.has_fixed_shape()) return false;
    const auto inputs = node.inputs();
    if (std::ranges::any_of(inputs,
                            [&](const Variable& input) { return narrower_.contains(input); }))
      return true;
    for (int from_last = 1; from_last <= declared.rank(); ++from_last) {
      if (declared.shape()[declared.rank() - from_last] != TensorType::any) continue;
      const bool is_open = std::ranges::any_of(inputs, [&](const Variable& input) {
        const Shape& shape = input.type().shape();
        return shape.size() >= from_last && shape[shape.size() - from_last] == TensorType::any;
      });
      if (!is_open) return true;
    }
    return false;
  }

  const FusionRewrite& rewrite_;
  std::unordered_map<Variable, TensorType> narrower_;  // where it is narrower than the declared one
};

}  // namespace spanwise::graph
