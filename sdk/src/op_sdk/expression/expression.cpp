// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/op_sdk/expression.hpp"

#include <utility>

#include "spanwise/op_sdk.hpp"

namespace spanwise::expression {
namespace {

using Extents = std::vector<std::int64_t>;

// The output of the op "reshape" or "broadcast_to" for `x` and the shape of `like`.
Variable with_shape_of(const char* op, const Variable& x, const Variable& like,
                       Variable (*extent_of)(const Variable&, int) = &extent) {
  std::vector<Variable> inputs{x};
  Extents extents;
  for (int axis = 0; axis < like.type().rank(); ++axis) {
    const std::int64_t extent = like.type().shape()[axis];
    extents.push_back(extent == TensorType::any ? computed_extent : extent);
    if (extent == TensorType::any) inputs.push_back(extent_of(like, axis));
  }
  return apply(op, inputs, {{"shape", std::move(extents)}});
}

}  // namespace

Variable apply(std::string_view name, std::span<const Variable> inputs,
               const OpProperties& properties) {
  return (*make_op(name, properties))(inputs)[0];
}

const Apply* node_of(const Variable& x, std::string_view name) {
  const Apply* node = x.owner();
  if (node == nullptr || x.index() != 0) return nullptr;
  const auto recipe = node->op().recipe();
  return recipe != nullptr && recipe->name == name ? node : nullptr;
}

Variable number_like(double value, const Variable& like) {
  return Variable::constant(full(Shape{}, Scalar(value), like.type().dtype(), cpu));
}

std::optional<double> constant_number(const Variable& x) {
  const Array* value = x.value();
  if (value == nullptr || value->size() != 1 || !value->device().is_cpu()) return {};
  if (!value->dtype().is_computable() || value->dtype().is_complex()) return {};
  return item(*value).as_double();
}

Variable operator+(const Variable& a, const Variable& b) { return apply("add", {a, b}); }
Variable operator-(const Variable& a, const Variable& b) { return apply("subtract", {a, b}); }
Variable operator*(const Variable& a, const Variable& b) { return apply("multiply", {a, b}); }
Variable operator/(const Variable& a, const Variable& b) { return apply("divide", {a, b}); }
Variable operator-(const Variable& a) { return apply("negative", {a}); }

Variable cast(const Variable& x, DType dtype) {
  if (x.type().dtype() == dtype) return x;
  return apply("cast", {x}, {{"dtype", dtype.name()}});
}

Variable dimshuffle(const Variable& x, std::vector<std::int64_t> order) {
  return apply("dimshuffle", {x}, {{"order", std::move(order)}});
}

Variable matrix_transpose(const Variable& x) {
  Extents order;
  for (int axis = 0; axis < x.type().rank(); ++axis) order.push_back(axis);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return dimshuffle(x, std::move(order));
}

Variable broadcast_like(const Variable& x, const Variable& like) {
  return have_equal_shapes(x, like) ? x : with_shape_of("broadcast_to", x, like);
}

Variable reshape_like(const Variable& x, const Variable& like) {
  return have_equal_shapes(x, like) ? x : with_shape_of("reshape", x, like);
}

Variable zeros_like(const Variable& like) { return broadcast_like(number_like(0, like), like); }

Variable shape_stand_in(const Variable& x) {
  const Variable element = Variable::constant(full(Shape{1}, Scalar(0), int64, cpu));
  Variable view = with_shape_of("broadcast_to", element, x, &inferred_extent);
  for (const Variable& input : view.owner()->inputs())
    if (const auto item = item_of_shape(input); item && item->variable == x) return {};
  return view;
}

Variable sum_to(const Variable& x, const Variable& like) {
  if (have_equal_shapes(x, like)) return x;
  if (like.type().rank() == 0) return x.type().rank() == 0 ? x : apply("sum", {x});
  return apply("sum_to", {x, like});
}

}  // namespace spanwise::expression
