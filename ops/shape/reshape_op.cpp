// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "extents.hpp"
#include "spanwise/op_sdk/expression.hpp"

namespace spanwise::ops {
namespace {

/// The same elements in C order with another shape: a view if the strides allow it, else a copy.
class Reshape final : public NamedOp {
 public:
  explicit Reshape(TargetShape extents)
      : NamedOp(text("Reshape{", extents.text(), '}')), extents_(std::move(extents)) {}
  AliasMap view_map() const override { return {{0, {0}}}; }
  bool takes_host_scalars() const override { return true; }

  Ref<Apply> make_node(std::span<const Variable> inputs) const override {
    extents_.check(*this, inputs);
    const TensorType& type = inputs[0].type();
    Shape shape = extents_.known(inputs);
    if (type.has_fixed_shape()) {
      const std::int64_t size = Layout::row_major(type.shape()).size();
      // At most one unknown extent can be inferred.
      if (std::count(shape.begin(), shape.end(), TensorType::any) <= 1)
        shape = resolve_shape(shape, size);
    }
    return Apply::make(Ref<const Op>(this), {inputs.begin(), inputs.end()},
                       {Variable(TensorType(type.dtype(), std::move(shape),
                                            common_device(*this, inputs.first(1))))});
  }

  std::vector<ExtentSource> extent_sources(const Apply&, int, int axis) const override {
    return extents_.sources(axis);
  }
  // The axis -1: what the others leave of the size.
  Variable inferred_extent(const Apply& node, int output, int axis) const override {
    Variable size, others;
    const auto times = [](const Variable& a, const Variable& b) {
      return a ? expression::operator*(a, b) : b;
    };
    const Variable &from = node.inputs()[0], to = node.output(output);
    for (int i = 0; i < from.type().rank(); ++i)
      size = times(size, expression::inferred_extent(from, i));
    for (int i = 0; i < to.type().rank(); ++i)
      if (i != axis) others = times(others, expression::inferred_extent(to, i));
    if (!size) return {};
    return others ? expression::call("floor_divide", size, others) : size;
  }

  std::vector<Cotangent> gradient(const Apply& node,
                                  std::span<const Cotangent> outputs) const override {
    std::vector<Cotangent> derivatives(node.inputs().size());  // extents are disconnected
    derivatives[0] = expression::reshape_like(outputs[0].variable(), node.inputs()[0]);
    return derivatives;
  }

  std::unique_ptr<Thunk> make_thunk(const ThunkContext& context) const override {
    return make_async_thunk(
        [op = Ref<const Reshape>(this), cells = context.inputs(1), from = context.input(0),
         to = context.output(0), device = context.device()] {
          const Array source = to_device(*from->value, device);
          to->value = reshape(source, op->extents_.evaluate(cells));
        },
        are_on_host(context.node(), 1));
  }

 private:
  TargetShape extents_;
};

/// numpy.broadcast_to: a view with stride 0 along the axes of extent 1 that are extended and along
/// new axes in front.
class BroadcastTo final : public NamedOp {
 public:
  explicit BroadcastTo(TargetShape extents)
      : NamedOp(text("BroadcastTo{", extents.text(), '}')), extents_(std::move(extents)) {}
  AliasMap view_map() const override { return {{0, {0}}}; }
  bool gives_readonly() const override { return true; }
  bool takes_host_scalars() const override { return true; }

  Ref<Apply> make_node(std::span<const Variable> inputs) const override {
    extents_.check(*this, inputs);
    const TensorType& type = inputs[0].type();
    const Shape shape = extents_.known(inputs);
    const int added = shape.size() - type.rank();
    if (added < 0)
      fail<LayoutError>(name(), ": expected at least ", type.rank(), " dimensions for ", type,
                        ", got ", shape.size());
    for (int axis = 0; axis < type.rank(); ++axis) {
      const std::int64_t have = type.shape()[axis], want = shape[axis + added];
      if (have != 1 && have != want && have != TensorType::any && want != TensorType::any)
        fail<LayoutError>(name(), ": ", type, " does not broadcast: extent ", have, " at axis ",
                          axis);
    }
    // A number on the host does not decide where an array is.
    const bool is_number = type.rank() == 0 && type.device() == cpu && shape.size() > 0;
    const std::optional<Device> device = is_number ? std::nullopt : type.device();
    return Apply::make(Ref<const Op>(this), {inputs.begin(), inputs.end()},
                       {Variable(TensorType(type.dtype(), shape, device))});
  }

  std::vector<ExtentSource> extent_sources(const Apply&, int, int axis) const override {
    return extents_.sources(axis);
  }

  std::vector<Cotangent> gradient(const Apply& node,
                                  std::span<const Cotangent> outputs) const override {
    std::vector<Cotangent> derivatives(node.inputs().size());  // extents are disconnected
    derivatives[0] = expression::sum_to(outputs[0].variable(), node.inputs()[0]);
    return derivatives;
  }

  std::unique_ptr<Thunk> make_thunk(const ThunkContext& context) const override {
    return make_async_thunk(
        [op = Ref<const BroadcastTo>(this), cells = context.inputs(1), from = context.input(0),
         to = context.output(0), device = context.device()] {
          // Read-only as in NumPy: several elements may share one address.
          const Array source = to_device(*from->value, device);
          to->value = source.broadcast_to(op->extents_.evaluate(cells)).as_readonly();
        },
        are_on_host(context.node(), 1));
  }

 private:
  TargetShape extents_;
};

template <class ShapedOp>
Ref<const Op> make_with_shape(const char* who, const OpProperties& properties) {
  expect_properties(who, properties, {"shape"});
  return make_ref<const ShapedOp>(
      TargetShape(property<std::vector<std::int64_t>>(who, properties, "shape")));
}

[[maybe_unused]] const bool reshape_registered = register_op(
    "reshape",
    [](const OpProperties& properties) { return make_with_shape<Reshape>("reshape", properties); });
[[maybe_unused]] const bool broadcast_to_registered =
    register_op("broadcast_to", [](const OpProperties& properties) {
      return make_with_shape<BroadcastTo>("broadcast_to", properties);
    });

}  // namespace
}  // namespace spanwise::ops
