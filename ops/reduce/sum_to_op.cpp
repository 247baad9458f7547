// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "reduce.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/op_sdk.hpp"
#include "spanwise/op_sdk/expression.hpp"

namespace spanwise::ops::reduce {
namespace {

/// The sum of input 0 over the axes along which input 1 would broadcast to its shape; a view of
/// input 0 where the shapes are equal. Reads only the shape of input 1.
class SumTo final : public NamedOp {
 public:
  SumTo() : NamedOp("SumTo") {}
  AliasMap view_map() const override { return {{0, {0}}}; }
  bool reads_only_shape(int input) const override { return input == 1; }

  Ref<Apply> make_node(std::span<const Variable> inputs) const override {
    expect_arity(*this, inputs, 2);
    const TensorType &from = inputs[0].type(), &like = inputs[1].type();
    if (like.rank() > from.rank())
      fail<LayoutError>(name(), ": expected a shape of at most ", from.rank(), " axes, got ", like);
    return make_apply(*this, inputs, TensorType(from.dtype(), like.shape(), from.device()));
  }

  std::vector<Cotangent> gradient(const Apply& node,
                                  std::span<const Cotangent> outputs) const override {
    return {expression::broadcast_like(outputs[0].variable(), node.inputs()[0]), Cotangent()};
  }

  std::unique_ptr<Thunk> make_thunk(const ThunkContext& context) const override {
    return make_async_thunk([from = context.input(0), like = context.input(1),
                             to = context.output(0), device = context.device()] {
      const Array source = to_device(*from->value, device);
      to->value = summed(source, like->value->shape());
    });
  }

 private:
  static Array summed(const Array& source, const Shape& shape) {
    const int leading = source.rank() - shape.size();
    Options options{.keepdims = true, .dtype = source.dtype()};
    for (int axis = 0; axis < source.rank(); ++axis) {
      const std::int64_t extent = axis < leading ? 1 : shape[axis - leading];
      if (axis < leading || (extent == 1 && source.shape()[axis] != 1))
        options.axes.set(static_cast<std::size_t>(axis));
      else if (extent != source.shape()[axis])
        fail<LayoutError>("SumTo: shape ", shape, " does not broadcast to ", source.shape());
    }
    if (options.axes.none()) return source;
    return reshape(reduce(reduce::Operation::sum, source, options), shape);
  }
};

[[maybe_unused]] const bool sum_to_registered =
    register_op("sum_to", [] { return Ref<const spanwise::Op>(make_ref<const SumTo>()); });

}  // namespace
}  // namespace spanwise::ops::reduce
