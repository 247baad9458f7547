// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "matmul_op.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "product.hpp"
#include "spanwise/copy.hpp"
#include "spanwise/error.hpp"
#include "spanwise/op_sdk/expression.hpp"

namespace spanwise::ops::linalg {
namespace {

// The extent of the batch axis `from_end` axes before the last batch axis; 1 if there is none.
std::int64_t batch_extent_of(const Shape& shape, int from_end) {
  const int axis = shape.size() - 3 - from_end;
  return axis < 0 ? 1 : shape[axis];
}

Shape product_type_shape(const TensorType& left, const TensorType& right) {
  const Shape &a = left.shape(), &b = right.shape();
  if (a.empty() || b.empty())
    fail<GraphError>(
        "matmul: expected vectors or matrices, got "
        "variables of rank ",
        a.size(), " and ", b.size(), "; use * for numbers");
  const std::int64_t depth = a.back(), other = b[std::max(b.size() - 2, 0)];
  if (depth != other && depth != TensorType::any && other != TensorType::any)
    fail<LayoutError>("matmul: size ", other, " is different from ", depth, " (shapes ", a, " and ",
                      b, ")");
  const int batch = std::max({a.size() - 2, b.size() - 2, 0});
  std::vector<std::int64_t> shape;
  for (int i = batch - 1; i >= 0; --i) {
    const std::int64_t one = batch_extent_of(a, i), two = batch_extent_of(b, i);
    const auto extent = broadcast_extents(one, two);
    if (!extent.has_value())
      fail<LayoutError>("matmul: shapes ", a, " and ", b, " do not broadcast: ", one, " and ", two);
    shape.push_back(*extent);
  }
  if (a.size() > 1) shape.push_back(a[a.size() - 2]);
  if (b.size() > 1) shape.push_back(b.back());
  return Shape(std::span<const std::int64_t>(shape));
}

// Writes to the previous call's result if it is writable, not shared, and has the device and shape
// of the new one.
void multiply_into(Cell& cell, const Array& left, const Array& right) {
  if (cell.value) {
    const Array& old = *cell.value;
    ProductOptions options;
    options.out = &old;
    const bool fits = !old.readonly() && old.storage().use_count() <= 1 &&
                      old.device() == left.device() &&
                      old.shape() == product_shape(Product::matmul, left, right);
    if (fits) {
      multiply(Product::matmul, left, right, options);
      return;
    }
    cell.value.reset();  // the allocator can then reuse the memory
  }
  cell.value = multiply(Product::matmul, left, right);
}

class MatmulThunk final : public Thunk {
 public:
  explicit MatmulThunk(const ThunkContext& context)
      : inputs_{context.input(0), context.input(1)},
        output_(context.output(0)),
        device_(context.device()) {}

  std::vector<int> run() override {
    multiply_into(*output_, input_on_device(0), input_on_device(1));
    return {};
  }

 private:
  Array input_on_device(std::size_t i) const { return to_device(*inputs_[i]->value, device_); }

  std::array<Ref<Cell>, 2> inputs_;
  Ref<Cell> output_;
  Device device_;
};

// The derivatives for operands of at least two axes.
std::vector<Cotangent> matrix_gradient(const Variable& a, const Variable& b, const Variable& g) {
  using expression::apply, expression::matrix_transpose, expression::sum_to;
  return {sum_to(apply("matmul", {g, matrix_transpose(b)}), a),
          sum_to(apply("matmul", {matrix_transpose(a), g}), b)};
}

// x[:, None] * y
Variable outer_product(const Variable& x, const Variable& y) {
  using expression::dimshuffle, expression::operator*;
  return dimshuffle(x, {0, -1}) * dimshuffle(y, {-1, 0});
}

std::vector<Cotangent> product_gradient(const Variable& a, const Variable& b, const Variable& g) {
  using expression::apply, expression::matrix_transpose, expression::operator*;
  const int left = a.type().rank(), right = b.type().rank();
  if (left == 1 && right == 1) return {g * b, g * a};
  if (left == 2 && right == 1)
    return {outer_product(g, b), apply("matmul", {matrix_transpose(a), g})};
  if (left == 1 && right == 2) return {apply("matmul", {b, g}), outer_product(a, g)};
  // A vector and a batch of matrices: the vector is treated as a matrix of one row or one column.
  std::vector<std::int64_t> with_axis;
  for (int axis = 0; axis < g.type().rank(); ++axis) with_axis.push_back(axis);
  if (left > 1 && right > 1) return matrix_gradient(a, b, g);
  with_axis.insert(left == 1 ? with_axis.end() - 1 : with_axis.end(), -1);
  const Variable matrix_g = expression::dimshuffle(g, with_axis);
  const auto flat = [](const Cotangent& derivative, int axis) -> Cotangent {
    return expression::dimshuffle(derivative.variable(), {axis});
  };
  if (left == 1) {
    const auto both = matrix_gradient(expression::dimshuffle(a, {-1, 0}), b, matrix_g);
    return {flat(both[0], 1), both[1]};
  }
  const auto both = matrix_gradient(a, expression::dimshuffle(b, {0, -1}), matrix_g);
  return {both[0], flat(both[1], 0)};
}

class MatmulOp final : public Op {
 public:
  std::vector<Cotangent> gradient(const Apply& node,
                                  std::span<const Cotangent> outputs) const override {
    const Variable &a = node.inputs()[0], &b = node.inputs()[1];
    if (node.output(0).type().dtype().is_complex())
      return {2, Cotangent::undefined("derivatives of complex numbers are not defined")};
    return product_gradient(a, b, outputs[0].variable());
  }

  std::string name() const override { return "Matmul"; }

  std::vector<ExtentSource> extent_sources(const Apply& node, int, int axis) const override {
    const int left = node.inputs()[0].type().rank(), right = node.inputs()[1].type().rank();
    const int from_last = node.output(0).type().rank() - axis;
    const bool is_column = right > 1 && from_last == 1;
    if (is_column) return {{1, right - 1}};
    const bool is_row = left > 1 && from_last == (right > 1 ? 2 : 1);
    if (is_row) return {{0, left - 2}};
    // A batch axis. Counted from the last, a vector has one axis more than the result.
    return broadcast_sources(node.inputs(), from_last + (left == 1 || right == 1 ? 1 : 0));
  }

  Ref<Apply> make_node(std::span<const Variable> inputs) const override {
    expect_arity(*this, inputs, 2);
    const TensorType &left = inputs[0].type(), &right = inputs[1].type();
    const DType dtype = promote(left.dtype(), right.dtype());
    TensorType type(dtype, product_type_shape(left, right), common_device(*this, inputs));
    return Apply::make(Ref<const Op>(this), {inputs.begin(), inputs.end()},
                       {Variable(std::move(type))});
  }
  std::unique_ptr<Thunk> make_thunk(const ThunkContext& context) const override {
    return std::make_unique<MatmulThunk>(context);
  }
};

[[maybe_unused]] const bool matmul_registered = register_op("matmul", [] { return matmul_op(); });

}  // namespace

Ref<const Op> matmul_op() {
  static const auto& op = *new Ref<const Op>([] {
    Ref<const Op> made = make_ref<const MatmulOp>();
    made->set_recipe({"matmul"});
    return made;
  }());
  return op;
}

}  // namespace spanwise::ops::linalg
