// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "product_op.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "spanwise/copy.hpp"
#include "spanwise/error.hpp"
#include "spanwise/op_sdk/expression.hpp"

namespace spanwise::ops::linalg {
namespace {

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

class ProductThunk final : public Thunk {
 public:
  ProductThunk(const ThunkContext& context, double alpha, double beta, bool overwrites_addend)
      : alpha_(alpha),
        beta_(beta),
        overwrites_addend_(overwrites_addend),
        inputs_(context.inputs()),
        output_(context.output(0)),
        device_(context.device()),
        moved_(inputs_.size()) {}

  bool is_async() const override { return true; }

  std::vector<int> run() override {
    const Array &left = here(0), &right = here(1);
    const Array* const addend = inputs_.size() > 2 ? &here(2) : nullptr;
    ProductOptions options{.alpha = alpha_, .beta = beta_, .addend = addend};
    const Shape shape = product_shape(ProductKind::matmul, left.shape(), right.shape(),
                                      addend != nullptr ? &addend->shape() : nullptr);
    if (overwrites_addend_ && may_be_overwritten(*addend, shape)) output_->value = *addend;
    if (output_->value && !fits(*output_->value, shape))
      output_->value.reset();  // the allocator can then reuse the memory
    if (output_->value) {
      options.out = &*output_->value;
      multiply(ProductKind::matmul, left, right, options);
    } else {
      output_->value = multiply(ProductKind::matmul, left, right, options);
    }
    return {};
  }

 private:
  const Array& here(std::size_t i) {
    const Array& given = *inputs_[i]->value;
    return given.device() == device_ ? given : moved_[i].emplace(to_device(given, device_));
  }

  // The previous call's result, if it is writable and not shared; or the addend.
  bool fits(const Array& old, const Shape& shape) const {
    const bool is_alone = overwrites_addend_ || old.storage().use_count() <= 1;
    return !old.readonly() && is_alone && old.device() == device_ && old.shape() == shape;
  }
  bool may_be_overwritten(const Array& addend, const Shape& shape) const {
    return addend.shape() == shape && !addend.readonly() && addend.device() == device_ &&
           !addend.layout().may_overlap_itself();
  }

  double alpha_, beta_;
  bool overwrites_addend_;
  std::vector<Ref<Cell>> inputs_;
  Ref<Cell> output_;
  Device device_;
  std::vector<std::optional<Array>> moved_;
};

}  // namespace

Shape product_type_shape(std::span<const Variable> inputs) {
  return product_shape(ProductKind::matmul, inputs[0].type().shape(), inputs[1].type().shape(),
                       inputs.size() > 2 ? &inputs[2].type().shape() : nullptr);
}

std::vector<ExtentSource> product_extent_sources(const Apply& node, int from_last) {
  const auto factors = std::span(node.inputs()).first(2);
  const int left = factors[0].type().rank(), right = factors[1].type().rank();
  const bool is_column = right > 1 && from_last == 1;
  if (is_column) return {{1, right - 1}};
  const bool is_row = left > 1 && from_last == (right > 1 ? 2 : 1);
  if (is_row) return {{0, left - 2}};
  // A batch axis. Counted from the last, a vector has one axis more than the result.
  return broadcast_sources(factors, from_last + (left == 1 || right == 1 ? 1 : 0));
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

std::unique_ptr<Thunk> product_thunk(const ThunkContext& context, double alpha, double beta,
                                     bool overwrites_addend) {
  return std::make_unique<ProductThunk>(context, alpha, beta, overwrites_addend);
}

}  // namespace spanwise::ops::linalg
