// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <unordered_map>

#include "spanwise/graph/op.hpp"
#include "spanwise/graph/rewrite.hpp"

namespace spanwise::graph {

/// Whether values of the two types may have the same shape, and are broadcast along the same axes
/// where one of their extents is 1 by its type.
bool have_equal_patterns(const TensorType& a, const TensorType& b);

/// The type of values of both types; extents that both fix are equal.
TensorType common_type(const TensorType& a, const TensorType& b);

/// The types of the outputs of nodes that may be in a group.
///
/// Rewrites replace inputs by variables of better known types and leave the type of the node as it
/// was. An extent that is 1 because the types of all inputs say so would then be taken for one that
/// the call determines, so types are found from the inputs again.
class GroupTypes {
 public:
  explicit GroupTypes(const FusionRewrite& rewrite) : rewrite_(rewrite) {}

  /// None for a node that may not be in a group. Call in topological order.
  std::optional<TensorType> of(const Apply& node);

 private:
  bool may_have_narrower_type(const Apply& node) const;

  const FusionRewrite& rewrite_;
  std::unordered_map<Variable, TensorType> narrower_;  // where it is narrower than the declared one
};

}  // namespace spanwise::graph
