// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/op_sdk.hpp"

namespace spanwise::ops {
namespace {

/// The same numbers in another dtype, as NumPy's astype makes them.
class CastOp final : public SameShapeOp {
 public:
  explicit CastOp(std::string_view dtype)
      : SameShapeOp(text("Cast{", DType::parse(dtype), '}')), dtype_(DType::parse(dtype)) {}

  Ref<Apply> make_node(std::span<const Variable> inputs) const override {
    expect_arity(*this, inputs, 1);
    const TensorType& type = inputs[0].type();
    for (const DType dtype : {type.dtype(), dtype_})
      if (!dtype.is_computable()) fail<DTypeError>(name(), ": cannot compute on ", dtype);
    return make_apply(*this, inputs, TensorType(dtype_, type.shape(), type.device()));
  }

  std::vector<Cotangent> gradient(const Apply&, std::span<const Cotangent> outputs) const override {
    return {outputs[0]};
  }

  std::unique_ptr<Thunk> make_thunk(const ThunkContext& context) const override {
    return make_async_thunk([from = context.input(0), to = context.output(0), dtype = dtype_,
                             device = context.device()] {
      copy(*from->value, output_array(*to, from->value->shape(), dtype, device));
    });
  }

 private:
  DType dtype_;
};

[[maybe_unused]] const bool cast_registered =
    register_op_with<CastOp, std::string>("cast", "dtype");

}  // namespace
}  // namespace spanwise::ops
