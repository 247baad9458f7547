// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "product_op.hpp"

#include <cmath>
#include <functional>
#include <utility>

#include "spanwise/op_sdk/expression.hpp"

namespace spanwise::ops::linalg {
namespace {

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
    return Apply::make(Ref<const Op>(this), {inputs.begin(), inputs.end()},
                       {Variable(std::move(type))});
  }

  std::unique_ptr<Thunk> make_thunk(const ThunkContext& context) const override {
    return product_thunk(context, alpha_, beta_, overwrites_);
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
    const int own = addend.rank() - from_last;
    if (own >= 0 && addend.shape()[own] != 1) sources.push_back({2, own});
    return sources;
  }

  std::vector<Cotangent> gradient(const Apply& node,
                                  std::span<const Cotangent> outputs) const override {
    using expression::call, expression::sum_to, expression::operator*;
    const auto inputs = node.inputs();
    if (node.output(0).type().dtype().is_complex())
      return {inputs.size(),
              Cotangent::undefined("derivatives of complex numbers are not defined")};
    const Variable& g = outputs[0].variable();
    if (!takes_addend_) return product_gradient(inputs[0], inputs[1], g);
    const Variable product = call("matmul", inputs[0], inputs[1]);
    std::vector<Cotangent> found =
        product_gradient(inputs[0], inputs[1], sum_to(g, product) * alpha_);
    if (inputs.size() > 2) found.emplace_back(sum_to(g, inputs[2]) * beta_);
    return found;
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

}  // namespace spanwise::ops::linalg
