// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "matmul_op.hpp"

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "product_rules.hpp"

namespace spanwise::ops::linalg {
namespace {

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
    return product_extent_sources(node, node.output(0).type().rank() - axis);
  }

  Ref<Apply> make_node(std::span<const Variable> inputs) const override {
    expect_arity(*this, inputs, 2);
    const TensorType &left = inputs[0].type(), &right = inputs[1].type();
    const DType dtype = promote(left.dtype(), right.dtype());
    TensorType type(dtype, product_type_shape(inputs), common_device(*this, inputs));
    return Apply::make(Ref<const Op>(this), {inputs.begin(), inputs.end()},
                       {Variable(std::move(type))});
  }
  std::unique_ptr<Thunk> make_thunk(const ThunkContext& context) const override {
    return product_thunk(context, /*alpha=*/1, /*beta=*/0, /*overwrites_addend=*/false);
  }
};

[[maybe_unused]] const bool matmul_registered = register_op("matmul", [] { return matmul_op(); });

}  // namespace

Ref<const Op> matmul_op() {
  static const auto& op = *new Ref<const Op>([] {
    Ref<const Op> result = make_ref<const MatmulOp>();
    result->set_recipe({"matmul"});
    return result;
  }());
  return op;
}

}  // namespace spanwise::ops::linalg
