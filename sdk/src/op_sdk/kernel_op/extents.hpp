// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "op_sdk/kernel_op/declaration.hpp"

namespace spanwise::op_sdk {

/// The values of a declaration's names for given shapes of its inputs.
class Extents {
 public:
  explicit Extents(const Declaration& declaration);

  /// Extents may be TensorType::any. Throws LayoutError naming the op, the input, the axis, what
  /// was expected and what came.
  void bind(std::span<const Shape* const> shapes);
  bool is_known(const Expression& expression) const noexcept;
  /// For an expression that is_known(). Throws ArgumentError.
  std::int64_t value(const Expression& expression) const { return expression.evaluate(values_); }
  /// `parameter`'s shape, TensorType::any where it is not known. Throws LayoutError for a negative
  /// extent.
  Shape shape(const Parameter& parameter) const;

 private:
  void check(const Declaration::Axis& axis, std::int64_t got) const;

  const Declaration& declaration_;
  std::vector<std::int64_t> values_;
};

}  // namespace spanwise::op_sdk
