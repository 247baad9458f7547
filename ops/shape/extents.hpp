// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "spanwise/op_sdk.hpp"

namespace spanwise::ops {

/// A shape some extents of which are numbers that the graph computes: they follow the array among
/// the node's inputs, in order.
class Extents {
 public:
  static constexpr std::int64_t computed = -2;

  /// An extent, -1 where the op finds it, or `computed`.
  explicit Extents(std::vector<std::int64_t> extents);

  /// "2, ?, -1".
  std::string text() const;
  /// Throws unless inputs 1, 2, ... are the numbers that are to be computed.
  void check(const Op& op, std::span<const Variable> inputs) const;
  /// What is known of the shape: TensorType::any for the rest.
  Shape known(std::span<const Variable> inputs) const;
  /// The cells of a node whose inputs passed check().
  std::vector<Ref<Cell>> cells(const ThunkContext& context) const;
  /// With what stands in the cells; -1 stays.
  Shape now(std::span<const Ref<Cell>> cells) const;

 private:
  int computed_count() const;
  std::vector<std::int64_t> extents_;
};

}  // namespace spanwise::ops
