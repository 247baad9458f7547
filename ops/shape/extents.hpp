// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "spanwise/op_sdk.hpp"

namespace spanwise::ops {

/// A shape, some extents of which the graph computes: these are inputs of the node after the array,
/// in order.
class TargetShape {
 public:
  static constexpr std::int64_t computed = -2;

  /// Each is an extent, -1 (inferred by the op), or `computed`. Throws LayoutError for other
  /// negative extents or a rank above max_rank.
  explicit TargetShape(std::vector<std::int64_t> extents);

  /// "2, ?, -1".
  std::string text() const;
  /// Throws unless there is one input per computed extent after input 0, each an integer scalar
  /// (see expect_integer()).
  void check(const Op& op, std::span<const Variable> inputs) const;
  /// The shape when the graph is built: fixed and constant extents, TensorType::any for the others
  /// and for -1.
  Shape known(std::span<const Variable> inputs) const;
  /// The input whose value is extent `axis`; none if the extent is fixed or inferred.
  std::vector<ExtentSource> sources(int axis) const;
  /// The shape with the current values of the cells of inputs 1 and following, of a node whose
  /// inputs passed check(); -1 is kept.
  Shape evaluate(std::span<const Ref<Cell>> cells) const;

 private:
  int computed_count() const;
  std::vector<std::int64_t> extents_;
};

}  // namespace spanwise::ops
