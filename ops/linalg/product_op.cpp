// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "product.hpp"
#include "spanwise/graph/rewrite.hpp"
#include "spanwise/op_sdk/expression.hpp"
#include "spanwise/runtime/copy.hpp"

// Products as ops of graphs, their derivatives, and the rewrite that collects sums of products.
namespace spanwise::ops::linalg {
namespace {

using namespace expression;

// The shape of the product of the first two inputs, broadcast with the third if there is one, as
// far as the types show.
Shape product_type_shape(std::span<const Variable> inputs) {
  return product_shape(ProductKind::matmul, inputs[0].type().shape(), inputs[1].type().shape(),
                       inputs.size() > 2 ? &inputs[2].type().shape() : nullptr);
}

// Where the extent of the axis `from_last` (1 is the last) of the product of the node's first two
// inputs comes from.
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

// The derivatives for operands of at least two axes.
std::vector<Cotangent> matrix_gradient(const Variable& a, const Variable& b, const Variable& g) {
  return {sum_to(apply("matmul", {g, matrix_transpose(b)}), a),
          sum_to(apply("matmul", {matrix_transpose(a), g}), b)};
}

// x[:, None] * y
Variable outer_product(const Variable& x, const Variable& y) {
  return dimshuffle(x, {0, -1}) * dimshuffle(y, {-1, 0});
}

// The derivatives with respect to the factors of a @ b, from `g`, that of the product.
std::vector<Cotangent> product_gradient(const Variable& a, const Variable& b, const Variable& g) {
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
  const Variable matrix_g = dimshuffle(g, with_axis);
  const auto flat = [](const Cotangent& derivative, int axis) -> Cotangent {
    return dimshuffle(derivative.variable(), {axis});
  };
  if (left == 1) {
    const auto both = matrix_gradient(dimshuffle(a, {-1, 0}), b, matrix_g);
    return {flat(both[0], 1), both[1]};
  }
  const auto both = matrix_gradient(a, dimshuffle(b, {0, -1}), matrix_g);
  return {both[0], flat(both[1], 0)};
}

/// Computes alpha * input 0 @ input 1 + beta * input 2, where the node has a third input.
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
    const Array &left = on_device(0), &right = on_device(1);
    const Array* const addend = inputs_.size() > 2 ? &on_device(2) : nullptr;
    ProductOptions options{.alpha = alpha_, .beta = beta_, .addend = addend};
    const Shape shape = product_shape(ProductKind::matmul, left.shape(), right.shape(),
                                      addend != nullptr ? &addend->shape() : nullptr);
    if (overwrites_addend_ && addend != nullptr && may_be_overwritten(*addend, shape))
      output_->value = *addend;
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
  const Array& on_device(std::size_t i) {
    const Array& value = *inputs_[i]->value;
    return value.device() == device_ ? value : moved_[i].emplace(to_device(value, device_));
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

constexpr int overwritten_addend = 2;

class ProductOp final : public Op {
 public:
  /// A product alone.
  ProductOp() : name_("Matmul") {}
  ProductOp(double alpha, double beta, bool overwrites)
      : takes_addend_(true), alpha_(alpha), beta_(beta), overwrites_(overwrites) {
    name_ = text("Affine{alpha=", alpha_, ", beta=", beta_, "}");
    // Theano's way to write that output 0 overwrites input 2.
    if (overwrites_) name_ += text("[(0, ", overwritten_addend, ")]");
  }

  std::string name() const override { return name_; }
  bool equals(const Op& other) const override {
    const auto* same = dynamic_cast<const ProductOp*>(&other);
    return same != nullptr && same->takes_addend_ == takes_addend_ && same->alpha_ == alpha_ &&
           same->beta_ == beta_ && same->overwrites_ == overwrites_;
  }
  std::size_t hash() const override { return std::hash<std::string>()(name_); }

  Ref<Apply> make_node(std::span<const Variable> inputs) const override {
    if (!takes_addend_ || inputs.size() != 2) expect_arity(*this, inputs, takes_addend_ ? 3 : 2);
    DType dtype = inputs[0].type().dtype();
    for (const Variable& input : inputs) dtype = promote(dtype, input.type().dtype());
    check_factors(dtype);
    TensorType type(dtype, product_type_shape(inputs), common_device(*this, inputs));
    return make_apply(*this, inputs, std::move(type));
  }

  std::unique_ptr<Thunk> make_thunk(const ThunkContext& context) const override {
    return std::make_unique<ProductThunk>(context, alpha_, beta_, overwrites_);
  }
  AliasMap destroy_map() const override {
    if (!overwrites_) return {};
    return {{0, {overwritten_addend}}};
  }
  Ref<const Op> overwriting(int input) const override {
    if (input != overwritten_addend) return {};
    return make_ref<const ProductOp>(alpha_, beta_, true);
  }

  std::vector<ExtentSource> extent_sources(const Apply& node, int, int axis) const override {
    const int from_last = node.output(0).type().rank() - axis;
    std::vector<ExtentSource> sources;
    if (from_last <= product_rank(node)) sources = product_extent_sources(node, from_last);
    if (node.inputs().size() < 3) return sources;
    const TensorType& addend = node.inputs()[2].type();
    const int addend_axis = addend.rank() - from_last;
    if (addend_axis >= 0 && addend.shape()[addend_axis] != 1) sources.push_back({2, addend_axis});
    return sources;
  }

  std::vector<Cotangent> gradient(const Apply& node,
                                  std::span<const Cotangent> outputs) const override {
    const auto inputs = node.inputs();
    if (node.output(0).type().dtype().is_complex())
      return {inputs.size(),
              Cotangent::undefined("derivatives of complex numbers are not defined")};
    const Variable& g = outputs[0].variable();
    if (!takes_addend_) return product_gradient(inputs[0], inputs[1], g);
    const Variable product = call("matmul", inputs[0], inputs[1]);
    std::vector<Cotangent> derivatives =
        product_gradient(inputs[0], inputs[1], sum_to(g, product) * alpha_);
    if (inputs.size() > 2) derivatives.emplace_back(sum_to(g, inputs[2]) * beta_);
    return derivatives;
  }

 private:
  static int product_rank(const Apply& node) {
    return product_type_shape(node.inputs().first(2)).size();
  }

  void check_factors(DType dtype) const {
    if (dtype.is_floating() || dtype.is_complex()) return;
    for (const double factor : {alpha_, beta_}) {
      const bool fits = dtype.is_bool() ? factor == 0 || factor == 1
                                        : factor == std::trunc(factor) && std::abs(factor) < 0x1p53;
      if (!fits)
        fail<DTypeError>(name_, ": expected ", dtype.is_bool() ? "0 or 1" : "whole numbers",
                         " as alpha and beta of ", dtype, ", got ", factor,
                         "; cast the inputs to a floating dtype");
    }
  }

  bool takes_addend_ = false;
  double alpha_ = 1, beta_ = 0;
  bool overwrites_ = false;
  std::string name_;
};

Ref<const Op> affine_from(const OpProperties& properties) {
  expect_properties("affine", properties, {"alpha", "beta"});
  return affine_op(optional_property<double>("affine", properties, "alpha").value_or(1),
                   optional_property<double>("affine", properties, "beta").value_or(1));
}

[[maybe_unused]] const bool affine_registered = register_op("affine", affine_from);
[[maybe_unused]] const bool matmul_registered = register_op("matmul", [] { return matmul_op(); });

}  // namespace

Ref<const Op> affine_op(double alpha, double beta) {
  for (const double factor : {alpha, beta})
    if (!std::isfinite(factor))
      fail<ArgumentError>("affine: expected finite factors, got ", factor);
  Ref<const Op> result = make_ref<const ProductOp>(alpha, beta, false);
  result->set_recipe({"affine", {{"alpha", alpha}, {"beta", beta}}});
  return result;
}

Ref<const Op> matmul_op() {
  static const auto& op = *new Ref<const Op>([] {
    Ref<const Op> result = make_ref<const ProductOp>();
    result->set_recipe({"matmul"});
    return result;
  }());
  return op;
}

// ---- the rewrite "linear"

namespace {

// Collects sums of products: w - 0.01 * (x.T @ g + 0.02 * w) becomes -0.01 * x.T @ g + 0.9998 * w,
// one affine node. The factors of each variable are added in float64, so the result is rounded at
// other places than that of the sum as written, by a few units in the last place of its terms; for
// floating-point dtypes only. Terms whose factors cancel to 0 stay as written, for NaN and
// infinity.

struct Term {
  double factor;
  Variable variable;
};

/// A sum of products and of other variables, each with a factor.
class LinearSum {
 public:
  LinearSum(const Apply& root, const NodeSurroundings& around)
      : type_(root.output(0).type()), around_(around) {
    push_inputs(root, 1);
    // collected() gives nothing for more than one other variable.
    while (!pending_.empty() && others_.size() <= 1) {
      const Term term = std::move(pending_.back());
      pending_.pop_back();
      add(term.variable, term.factor);
    }
  }

  /// The sum as affine nodes; null where the sum has no product, or where the nodes would be as
  /// many as before.
  Variable collected() const {
    if (products_.empty() || others_.size() > 1) return {};
    if (others_.empty() && products_.size() == 1 && products_[0].factor == 1) return {};
    for (const std::vector<Term>* terms : {&products_, &others_})
      for (const Term& term : *terms)
        if (term.factor == 0 || !std::isfinite(term.factor)) return {};
    if (const Variable joined = others_.empty() ? joined_product() : Variable()) return joined;
    std::optional<Term> sum;
    if (!others_.empty()) sum = others_[0];
    for (const Term& product : products_) {
      const auto factors = product.variable.owner()->inputs();
      std::vector<Variable> inputs(factors.begin(), factors.end());
      const double beta = sum ? sum->factor : 1;
      if (sum) inputs.push_back(sum->variable);
      sum = {1, (*affine_op(product.factor, beta))(inputs)[0]};
    }
    return sum->variable;
  }

 private:
  // a0 @ b0 + a1 @ b1 + ... as the product of the joined factors, [a0, a1, ...] @ [b0; b1; ...]:
  // for several products along short axes, as in the derivative of weights that are used in several
  // steps. Copying the factors takes less time than these products. Null for others.
  Variable joined_product() const {
    constexpr std::size_t min_products = 3;
    constexpr std::int64_t max_depth = 256, min_side = 64;
    if (products_.size() < min_products) return {};
    std::vector<Variable> left, right;
    for (const Term& term : products_) {
      const auto factors = term.variable.owner()->inputs();
      const TensorType &a = factors[0].type(), &b = factors[1].type();
      const bool fits = term.factor == products_[0].factor && a.rank() == 2 && b.rank() == 2 &&
                        a.has_fixed_shape() && b.has_fixed_shape() && a.dtype() == type_.dtype() &&
                        b.dtype() == type_.dtype() && a.shape()[1] <= max_depth &&
                        a.shape()[0] >= min_side && b.shape()[1] >= min_side;
      if (!fits) return {};
      left.push_back(matrix_transpose(factors[0]));
      right.push_back(factors[1]);
    }
    const auto stacked = [](const std::vector<Variable>& parts) {
      return expression::apply("concatenate", parts, {{"axis", std::int64_t{0}}});
    };
    const std::vector<Variable> factors{matrix_transpose(stacked(left)), stacked(right)};
    const double factor = products_[0].factor;
    return factor == 1 ? expression::apply("matmul", factors) : (*affine_op(factor, 1))(factors)[0];
  }

  void add(const Variable& variable, double factor) {
    const Apply* node = variable.owner();
    if (node != nullptr && around_.readers(variable).size() == 1) {
      if (node_of(variable, "matmul") != nullptr && has_shape_of_sum(variable.type())) {
        products_.push_back({factor, variable});
        return;
      }
      if (push_inputs(*node, factor)) return;
    }
    const auto known = std::find_if(others_.begin(), others_.end(),
                                    [&](const Term& term) { return term.variable == variable; });
    if (known == others_.end())
      others_.push_back({factor, variable});
    else
      known->factor += factor;
  }

  // Whether a variable of this type has the sum's dtype and is not broadcast to its shape.
  bool has_shape_of_sum(const TensorType& type) const {
    if (type.dtype() != type_.dtype() || type.rank() != type_.rank()) return false;
    for (int axis = 0; axis < type.rank(); ++axis)
      if (type.shape()[axis] == 1 && type_.shape()[axis] != 1) return false;
    return true;
  }

  // Pushes the terms of a sum, or of a variable times a number, the first one last. Returns false
  // for other nodes.
  bool push_inputs(const Apply& node, double factor) {
    if (node.output_count() != 1 || node.output(0).type().dtype() != type_.dtype()) return false;
    const auto inputs = node.inputs();
    for (const Variable& input : inputs)
      if (input.type().dtype() != type_.dtype()) return false;
    const Variable output = node.output(0);
    if (node_of(output, "negative") != nullptr) {
      pending_.push_back({-factor, inputs[0]});
    } else if (node_of(output, "add") != nullptr) {
      pending_.push_back({factor, inputs[1]});
      pending_.push_back({factor, inputs[0]});
    } else if (node_of(output, "subtract") != nullptr) {
      pending_.push_back({-factor, inputs[1]});
      pending_.push_back({factor, inputs[0]});
    } else if (node_of(output, "multiply") != nullptr && number(inputs[0])) {
      pending_.push_back({factor * *number(inputs[0]), inputs[1]});
    } else if (node_of(output, "multiply") != nullptr && number(inputs[1])) {
      pending_.push_back({factor * *number(inputs[1]), inputs[0]});
    } else if (node_of(output, "divide") != nullptr && number(inputs[1])) {
      pending_.push_back({factor / *number(inputs[1]), inputs[0]});
    } else {
      return false;
    }
    return true;
  }

  static std::optional<double> number(const Variable& x) {
    return x.type().rank() == 0 ? constant_number(x) : std::nullopt;
  }

  TensorType type_;
  const NodeSurroundings& around_;
  std::vector<Term> products_, others_, pending_;
};

// A sum that only elementwise operations read becomes part of their pass over memory instead.
bool is_read_by_unfusible(const Apply& node, const NodeSurroundings& around) {
  const auto all = around.readers(node.output(0));
  return std::any_of(all.begin(), all.end(),
                     [](const Apply* reader) { return reader == nullptr || !is_fusible(*reader); });
}

std::vector<Variable> linear(const Apply& node, const NodeSurroundings& around) {
  if (node.output_count() != 1 || !is_read_by_unfusible(node, around)) return {};
  const TensorType& type = node.output(0).type();
  if (!type.dtype().is_floating() || type.rank() == 0) return {};
  const Variable sum = LinearSum(node, around).collected();
  if (!sum || sum.type().dtype() != type.dtype() || sum.type().rank() != type.rank()) return {};
  return {sum};
}

[[maybe_unused]] const bool linear_registered = register_node_rewrite(
    {.name = "linear", .position = 50, .tags = {"fast_run"}, .apply_within = linear});

}  // namespace

}  // namespace spanwise::ops::linalg
