// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "op_sdk/kernel_op/declaration.hpp"

namespace spanwise::op_sdk {

/// Evaluates a declaration's names and expressions for given input shapes.
class NamedExtents {
 public:
  explicit NamedExtents(const KernelDeclaration& declaration)
      : declaration_(declaration), values_(declaration.preset) {}

  /// Sets the names from the inputs' shapes, whose extents may be TensorType::any. Throws
  /// LayoutError naming the op, the input, the axis, the expected and the actual extent.
  void bind(std::span<const Shape* const> shapes) {
    const auto extent = [&](const KernelDeclaration::BoundAxis& axis) {
      return (*shapes[static_cast<std::size_t>(axis.input)])[axis.axis];
    };
    for (const KernelDeclaration::BoundAxis& axis : declaration_.binding)
      values_[static_cast<std::size_t>(axis.name)] = extent(axis);
    for (const KernelDeclaration::BoundAxis& axis : declaration_.checked) {
      const std::int64_t got = extent(axis);
      if (got != TensorType::any && is_known(*axis.expression) && got != value(*axis.expression))
          [[unlikely]]
        fail_extent(axis, got);
    }
  }

  bool is_known(const Expression& expression) const noexcept {
    return std::ranges::all_of(expression.names(), [&](int name) {
      return values_[static_cast<std::size_t>(name)] != TensorType::any ||
             declaration_.is_preset(name);
    });
  }

  /// The value of an expression for which is_known() is true. Throws ArgumentError.
  std::int64_t value(const Expression& expression) const { return expression.evaluate(values_); }
  /// The shape of `parameter`, with TensorType::any for unknown extents. Throws LayoutError for a
  /// negative extent.
  Shape shape(const DeclaredParameter& parameter) const {
    Shape shape(parameter.rank());
    for (int axis = 0; axis < shape.size(); ++axis) {
      const Expression& extent = parameter.extents[static_cast<std::size_t>(axis)];
      if (!is_known(extent)) {
        shape[axis] = TensorType::any;
        continue;
      }
      shape[axis] = value(extent);
      if (shape[axis] < 0)
        fail<LayoutError>(declaration_.spec.name, ": output ", parameter.name, ", axis ", axis,
                          ": ", extent.text(), " = ", shape[axis], "; expected an extent >= 0");
    }
    return shape;
  }

 private:
  [[noreturn]] void fail_extent(const KernelDeclaration::BoundAxis& axis, std::int64_t got) const {
    const DeclaredParameter& input = declaration_.inputs[static_cast<std::size_t>(axis.input)];
    const std::string& written = axis.expression->text();
    const std::string expected = std::to_string(value(*axis.expression));
    fail<LayoutError>(declaration_.spec.name, ": input ", input.name, ", axis ", axis.axis,
                      ": expected extent ", expected == written ? "" : written + " = ", expected,
                      ", got ", got);
  }

  const KernelDeclaration& declaration_;
  std::vector<std::int64_t> values_;
};

}  // namespace spanwise::op_sdk
