// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/op_sdk.hpp"

namespace spanwise::ops {
namespace {

/// The extents of a value as an int64 array on the host, whatever the value's device (Theano's
/// Shape).
class ShapeOp final : public NamedOp {
 public:
  ShapeOp() : NamedOp("Shape") {}
  bool reads_only_shape(int) const override { return true; }

  Ref<Apply> make_node(std::span<const Variable> inputs) const override {
    expect_arity(*this, inputs, 1);
    return make_apply(*this, inputs, TensorType(int64, Shape{inputs[0].type().rank()}, cpu));
  }

  std::unique_ptr<Thunk> make_thunk(const ThunkContext& context) const override {
    return make_async_thunk([from = context.input(0), to = context.output(0)] {
      const Shape& shape = from->value->shape();
      const Array& extents = output_array(*to, Shape{shape.size()}, int64, cpu);
      std::copy(shape.begin(), shape.end(), static_cast<std::int64_t*>(extents.data()));
    });
  }
};

[[maybe_unused]] const bool shape_registered =
    register_op("shape", [] { return Ref<const Op>(make_ref<const ShapeOp>()); });

}  // namespace
}  // namespace spanwise::ops
