// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "spanwise/op_sdk.hpp"
#include "spanwise/op_sdk/expression.hpp"

namespace spanwise::ops {
namespace {

constexpr std::int64_t new_axis = -1;

std::string dimshuffle_name(const std::vector<std::int64_t>& order) {
  std::string listed;
  for (const std::int64_t axis : order)
    listed += (listed.empty() ? "" : ",") + (axis == new_axis ? "x" : std::to_string(axis));
  return text("DimShuffle{", listed, '}');
}

/// A view with the axes permuted, new axes of extent 1 added and axes of extent 1 dropped
/// (theano/tensor/elemwise.py, DimShuffle).
class DimShuffle final : public NamedOp {
 public:
  explicit DimShuffle(std::vector<std::int64_t> order)
      : NamedOp(dimshuffle_name(order)), order_(std::move(order)) {
    if (order_.size() > max_rank)
      fail<LayoutError>(name(), ": at most ", max_rank, " dimensions, got ", order_.size());
    for (const std::int64_t axis : order_)
      if (axis != new_axis && std::count(order_.begin(), order_.end(), axis) != 1)
        fail<LayoutError>(name(), ": axis ", axis, " is repeated in the order");
  }
  AliasMap view_map() const override { return {{0, {0}}}; }

  Ref<Apply> make_node(std::span<const Variable> inputs) const override {
    expect_arity(*this, inputs, 1);
    const TensorType& type = inputs[0].type();
    for (const std::int64_t axis : order_)
      if (axis < new_axis || axis >= type.rank())
        fail<LayoutError>(name(), ": axis ", axis, " is out of bounds for a variable of rank ",
                          type.rank());
    const Layout layout = shuffled({type.shape(), Strides(type.rank()), 0});
    return make_apply(*this, inputs, TensorType(type.dtype(), layout.shape, type.device()));
  }

  std::vector<ExtentSource> extent_sources(const Apply&, int, int axis) const override {
    return {{0, static_cast<int>(order_[static_cast<std::size_t>(axis)])}};
  }

  std::vector<Cotangent> gradient(const Apply& node,
                                  std::span<const Cotangent> outputs) const override {
    std::vector<std::int64_t> inverse;
    for (int axis = 0; axis < node.inputs()[0].type().rank(); ++axis) {
      const auto position = std::find(order_.begin(), order_.end(), axis);
      inverse.push_back(position == order_.end() ? new_axis : position - order_.begin());
    }
    return {expression::dimshuffle(outputs[0].variable(), std::move(inverse))};
  }

  std::unique_ptr<Thunk> make_thunk(const ThunkContext& context) const override {
    return make_async_thunk([op = Ref<const DimShuffle>(this), from = context.input(0),
                             to = context.output(0), device = context.device()] {
      const Array source = to_device(*from->value, device);
      to->value = source.with_layout(op->shuffled(source.layout()));
    });
  }

 private:
  // The output's layout for an input of this layout, or for its type, whose extents may be unknown.
  Layout shuffled(const Layout& layout) const {
    for (int axis = 0; axis < layout.rank(); ++axis)
      if (layout.shape[axis] != 1 && layout.shape[axis] != TensorType::any &&
          std::find(order_.begin(), order_.end(), axis) == order_.end())
        fail<LayoutError>(name(), ": axis ", axis, " of shape ", layout.shape,
                          " cannot be dropped; expected an extent of 1");
    const int rank = static_cast<int>(order_.size());
    Layout result{Shape(rank, 1), Strides(rank), layout.offset};
    for (int i = 0; i < rank; ++i) {
      const auto axis = static_cast<int>(order_[static_cast<std::size_t>(i)]);
      if (axis == new_axis) continue;
      result.shape[i] = layout.shape[axis];
      result.strides[i] = layout.strides[axis];
    }
    return result;
  }

  std::vector<std::int64_t> order_;
};

[[maybe_unused]] const bool dimshuffle_registered =
    register_op_with<DimShuffle, std::vector<std::int64_t>>("dimshuffle", "order");

}  // namespace
}  // namespace spanwise::ops
