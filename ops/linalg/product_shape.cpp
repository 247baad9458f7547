// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "product_shape.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "spanwise/core/layout.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::ops::linalg {
namespace {

Shape first_axes(const Shape& shape, int count) {
  return Shape(std::span(shape.begin(), static_cast<std::size_t>(std::max(count, 0))));
}

}  // namespace

const ProductInfo& info_of(ProductKind product) noexcept {
  static constexpr ProductInfo all[] = {{"matmul", "(n?,k),(k,m?)->(n?,m?)", false, false, false},
                                        {"vecdot", "(n),(n)->()", true, true, true},
                                        {"matvec", "(m,n),(n)->(m)", false, true, false},
                                        {"vecmat", "(n),(n,m)->(m)", true, false, true}};
  return all[static_cast<int>(product)];
}

ProductShape::ProductShape(ProductKind product, const Shape& left, const Shape& right)
    : info_(info_of(product)), left_(left), right_(right) {
  check_rank(left, 0, info_.left_is_vector || product == ProductKind::matmul ? 1 : 2);
  check_rank(right, 1, info_.right_is_vector || product == ProductKind::matmul ? 1 : 2);
  drops_row = info_.left_is_vector || left.size() == 1;
  drops_column = info_.right_is_vector || right.size() == 1;
  check_depth();
  const int left_batch = left.size() - (drops_row ? 1 : 2),
            right_batch = right.size() - (drops_column ? 1 : 2);
  if (left_batch > 0 || right_batch > 0)
    batch = broadcast_batch(first_axes(left, left_batch), first_axes(right, right_batch));
}

Shape ProductShape::whole() const {
  Shape shape(batch.size() + (drops_row ? 0 : 1) + (drops_column ? 0 : 1));
  int axis = 0;
  for (const std::int64_t extent : batch) shape[axis++] = extent;
  if (!drops_row) shape[axis++] = left_[left_.size() - 2];
  if (!drops_column) shape[axis++] = right_.back();
  return shape;
}

void ProductShape::check_rank(const Shape& shape, int operand, int min_rank) const {
  if (shape.size() < min_rank)
    fail<LayoutError>(info_.name, ": Input operand ", operand,
                      " does not have enough dimensions (has ", shape.size(),
                      ", gufunc core with signature ", info_.signature, " requires ", min_rank,
                      "; shape ", shapes_text(std::span(&shape, 1)), ")",
                      shape.empty() ? "; use * for numbers" : "");
}
void ProductShape::check_depth() const {
  const std::int64_t left_depth = left_.back();
  const std::int64_t right_depth = right_[right_.size() - (drops_column ? 1 : 2)];
  if (left_depth != right_depth && left_depth != -1 && right_depth != -1)
    fail<LayoutError>(info_.name,
                      ": Input operand 1 has a mismatch in its core dimension 0, with gufunc "
                      "signature ",
                      info_.signature, " (size ", right_depth, " is different from ", left_depth,
                      "; shapes ", shapes_text(std::array{left_, right_}), ")");
}
Shape ProductShape::broadcast_batch(const Shape& left, const Shape& right) const {
  try {
    return broadcast_shapes(std::array{left, right});
  } catch (const LayoutError&) {
    fail<LayoutError>(info_.name, ": operands could not be broadcast together with shapes ",
                      shapes_text(std::array{left_, right_}),
                      "; the axes before those of the product must be equal or 1");
  }
}

Shape product_shape(ProductKind product, const Shape& left, const Shape& right,
                    const Shape* addend) {
  Shape shape = ProductShape(product, left, right).whole();
  if (addend == nullptr || *addend == shape) return shape;
  try {
    return broadcast_shapes(std::array{shape, *addend});
  } catch (const LayoutError& error) {
    fail<LayoutError>(info_of(product).name, ": the product and the addend: ", error.what());
  }
}

}  // namespace spanwise::ops::linalg
