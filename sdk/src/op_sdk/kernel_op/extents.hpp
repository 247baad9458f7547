// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "op_sdk/kernel_op/declaration.hpp"

namespace spanwise::op_sdk {

/// Evaluates a declaration's names and expressions for given input shapes.
class NamedExtents {
 public:
  explicit NamedExtents(const KernelDeclaration& declaration);

  /// Sets the names from the inputs' shapes, whose extents may be TensorType::any. Throws
  /// LayoutError naming the op, the input, the axis, the expected and the actual extent.
  void bind(std::span<const Shape* const> shapes);
  bool is_known(const Expression& expression) const noexcept;
  /// The value of an expression for which is_known() is true. Throws ArgumentError.
  std::int64_t value(const Expression& expression) const { return expression.evaluate(values_); }
  /// The shape of `parameter`, with TensorType::any for unknown extents. Throws LayoutError for a
  /// negative extent.
  Shape shape(const DeclaredParameter& parameter) const;

 private:
  void check(const KernelDeclaration::BoundAxis& axis, std::int64_t got) const;

  const KernelDeclaration& declaration_;
  std::vector<std::int64_t> values_;
};

}  // namespace spanwise::op_sdk
