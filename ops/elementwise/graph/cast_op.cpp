// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/op_sdk.hpp"

namespace spanwise::ops {
namespace {

/// The same numbers in another dtype, as NumPy's astype makes them.
class CastOp final : public NamedOp {
 public:
  explicit CastOp(DType dtype) : NamedOp(text("Cast{", dtype, '}')), dtype_(dtype) {}

  Ref<Apply> make_node(std::span<const Variable> inputs) const override {
    expect_arity(*this, inputs, 1);
    const TensorType& type = inputs[0].type();
    for (const DType dtype : {type.dtype(), dtype_})
      if (!dtype.is_computable()) fail<DTypeError>(name(), ": cannot compute on ", dtype);
    return Apply::make(Ref<const Op>(this), {inputs[0]},
                       {Variable(TensorType(dtype_, type.shape(), type.device()))});
  }

  std::vector<ExtentSource> extent_sources(const Apply&, int, int axis) const override {
    return {{0, axis}};
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
    register_op("cast", [](const OpProperties& properties) -> Ref<const Op> {
      expect_properties("cast", properties, {"dtype"});
      return make_ref<const CastOp>(
          DType::parse(property<std::string>("cast", properties, "dtype")));
    });

}  // namespace
}  // namespace spanwise::ops
