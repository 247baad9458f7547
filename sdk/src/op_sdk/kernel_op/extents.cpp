// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "op_sdk/kernel_op/extents.hpp"

#include <algorithm>

namespace spanwise::op_sdk {

NamedExtents::NamedExtents(const KernelDeclaration& declaration)
    : declaration_(declaration), values_(declaration.preset) {}

void NamedExtents::bind(std::span<const Shape* const> shapes) {
  const auto extent = [&](const KernelDeclaration::BoundAxis& axis) {
    return (*shapes[static_cast<std::size_t>(axis.input)])[axis.axis];
  };
  for (const KernelDeclaration::BoundAxis& axis : declaration_.binding)
    values_[static_cast<std::size_t>(axis.name)] = extent(axis);
  for (const KernelDeclaration::BoundAxis& axis : declaration_.checked) {
    const std::int64_t got = extent(axis);
    if (got != TensorType::any && is_known(*axis.expression) && got != value(*axis.expression))
        [[unlikely]]
      check(axis, got);
  }
}

void NamedExtents::check(const KernelDeclaration::BoundAxis& axis, std::int64_t got) const {
  const DeclaredParameter& input = declaration_.inputs[static_cast<std::size_t>(axis.input)];
  const std::string& written = axis.expression->text();
  const std::string expected = std::to_string(value(*axis.expression));
  fail<LayoutError>(declaration_.spec.name, ": input ", input.name, ", axis ", axis.axis,
                    ": expected extent ", expected == written ? "" : written + " = ", expected,
                    ", got ", got);
}

bool NamedExtents::is_known(const Expression& expression) const noexcept {
  return std::ranges::all_of(expression.names(), [&](int name) {
    return values_[static_cast<std::size_t>(name)] != TensorType::any ||
           declaration_.is_preset(name);
  });
}

Shape NamedExtents::shape(const DeclaredParameter& parameter) const {
  Shape shape(parameter.rank());
  for (int axis = 0; axis < shape.size(); ++axis) {
    const Expression& extent = parameter.extents[static_cast<std::size_t>(axis)];
    if (!is_known(extent)) {
      shape[axis] = TensorType::any;
      continue;
    }
    shape[axis] = value(extent);
    if (shape[axis] < 0)
      fail<LayoutError>(declaration_.spec.name, ": output ", parameter.name, ", axis ", axis, ": ",
                        extent.text(), " = ", shape[axis], "; expected an extent >= 0");
  }
  return shape;
}

}  // namespace spanwise::op_sdk
