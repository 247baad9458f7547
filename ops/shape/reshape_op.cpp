// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string_view>
#include <utility>

#include "spanwise/op_sdk.hpp"
#include "spanwise/op_sdk/expression.hpp"

namespace spanwise::ops {
namespace {

using expression::computed_extent;

/// A shape of which the graph may compute some extents: these are the node's inputs after the
/// array, in order.
class TargetShape {
 public:
  /// Each is an extent, -1 (inferred by the op), or computed_extent. Throws LayoutError for other
  /// negative extents or a rank above max_rank.
  explicit TargetShape(std::vector<std::int64_t> extents) : extents_(std::move(extents)) {
    if (extents_.size() > max_rank)
      fail<LayoutError>("shape: at most ", max_rank, " dimensions, got ", extents_.size());
    for (const std::int64_t extent : extents_)
      if (extent < computed_extent)
        fail<LayoutError>("shape: extent ", extent, "; expected an extent >= 0, or -1");
  }

  /// "2, ?, -1".
  std::string text() const {
    std::string listed;
    for (const std::int64_t extent : extents_)
      listed +=
          (listed.empty() ? "" : ", ") + (extent == computed_extent ? "?" : std::to_string(extent));
    return listed;
  }

  /// Throws unless there is one input per computed extent after input 0, each an integer scalar
  /// (see expect_integer()).
  void check(const Op& op, std::span<const Variable> inputs) const {
    const auto count =
        static_cast<int>(std::count(extents_.begin(), extents_.end(), computed_extent));
    expect_arity(op, inputs, 1 + count);
    for (int i = 1; i <= count; ++i) expect_integer(op, inputs, i);
  }

  /// The shape when the graph is built: fixed and constant extents, TensorType::any for the others
  /// and for -1.
  Shape known(std::span<const Variable> inputs) const {
    return with_computed([&, input = std::size_t{1}]() mutable {
      const Array* value = inputs[input++].value();
      return value != nullptr ? item(*value).as_int64() : TensorType::any;
    });
  }

  /// The input whose value is extent `axis`; none if the extent is fixed or inferred.
  std::vector<ExtentSource> sources(int axis) const {
    if (extents_[static_cast<std::size_t>(axis)] != computed_extent) return {};
    const auto before = std::count(extents_.begin(), extents_.begin() + axis, computed_extent);
    return {{1 + static_cast<int>(before), ExtentSource::value}};
  }

  /// The shape with the current values of the cells of inputs 1 and following, of a node whose
  /// inputs passed check(); -1 is kept.
  Shape evaluate(std::span<const Ref<Cell>> cells) const {
    return with_computed(
        [&, next = std::size_t{0}]() mutable { return item(*cells[next++]->value).as_int64(); });
  }

 private:
  // The extents, with next() for each computed one.
  template <class Next>
  Shape with_computed(Next&& next) const {
    Shape shape{std::span<const std::int64_t>(extents_)};
    for (std::int64_t& extent : shape)
      if (extent == computed_extent) extent = next();
    return shape;
  }

  std::vector<std::int64_t> extents_;
};

/// Gives an array another shape, as a view where possible.
class ShapedOp : public NamedOp {
 public:
  ShapedOp(std::string_view name, TargetShape extents)
      : NamedOp(text(name, '{', extents.text(), '}')), extents_(std::move(extents)) {}
  AliasMap view_map() const override { return {{0, {0}}}; }
  bool takes_host_scalars() const override { return true; }
  std::vector<ExtentSource> extent_sources(const Apply&, int, int axis) const override {
    return extents_.sources(axis);
  }

  std::vector<Cotangent> gradient(const Apply& node,
                                  std::span<const Cotangent> outputs) const override {
    std::vector<Cotangent> derivatives(node.inputs().size());  // extents are disconnected
    derivatives[0] = input_gradient(outputs[0].variable(), node.inputs()[0]);
    return derivatives;
  }

  std::unique_ptr<Thunk> make_thunk(const ThunkContext& context) const override {
    return make_async_thunk(
        [op = Ref<const ShapedOp>(this), cells = context.inputs(1), from = context.input(0),
         to = context.output(0), device = context.device()] {
          to->value = op->shaped(to_device(*from->value, device), op->extents_.evaluate(cells));
        },
        are_on_host(context.node(), 1));
  }

 protected:
  const TargetShape& extents() const noexcept { return extents_; }

 private:
  virtual Array shaped(const Array& source, const Shape& shape) const = 0;
  /// The derivative with respect to the array `x`, from that with respect to the output.
  virtual Variable input_gradient(const Variable& g, const Variable& x) const = 0;

  TargetShape extents_;
};

/// The same elements in C order with another shape: a view if the strides allow it, else a copy.
class Reshape final : public ShapedOp {
 public:
  explicit Reshape(std::vector<std::int64_t> extents)
      : ShapedOp("Reshape", TargetShape(std::move(extents))) {}

  Ref<Apply> make_node(std::span<const Variable> inputs) const override {
    extents().check(*this, inputs);
    const TensorType& type = inputs[0].type();
    Shape shape = extents().known(inputs);
    if (type.has_fixed_shape()) {
      const std::int64_t size = Layout::row_major(type.shape()).size();
      // At most one unknown extent can be inferred.
      if (std::count(shape.begin(), shape.end(), TensorType::any) <= 1)
        shape = resolve_shape(shape, size);
    }
    return make_apply(
        *this, inputs,
        TensorType(type.dtype(), std::move(shape), common_device(*this, inputs.first(1))));
  }

  // The axis declared -1: the size of the input divided by the other extents.
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

 private:
  Array shaped(const Array& source, const Shape& shape) const override {
    return reshape(source, shape);
  }
  Variable input_gradient(const Variable& g, const Variable& x) const override {
    return expression::reshape_like(g, x);
  }
};

/// numpy.broadcast_to: a view with stride 0 along the axes of extent 1 that are extended and along
/// new axes in front.
class BroadcastTo final : public ShapedOp {
 public:
  explicit BroadcastTo(std::vector<std::int64_t> extents)
      : ShapedOp("BroadcastTo", TargetShape(std::move(extents))) {}
  bool outputs_are_read_only() const override { return true; }

  Ref<Apply> make_node(std::span<const Variable> inputs) const override {
    extents().check(*this, inputs);
    const TensorType& type = inputs[0].type();
    const Shape shape = extents().known(inputs);
    const int added = shape.size() - type.rank();
    if (added < 0)
      fail<LayoutError>(name(), ": expected at least ", type.rank(), " dimensions for ", type,
                        ", got ", shape.size());
    for (int axis = 0; axis < type.rank(); ++axis) {
      const std::int64_t extent = type.shape()[axis], target = shape[axis + added];
      if (extent != 1 && extent != target && extent != TensorType::any && target != TensorType::any)
        fail<LayoutError>(name(), ": ", type, " does not broadcast: extent ", extent, " at axis ",
                          axis, ", expected 1 or ", target);
    }
    // A number on the host does not determine the device of the array made from it.
    const bool is_number = type.rank() == 0 && type.device() == cpu && !shape.empty();
    const std::optional<Device> device = is_number ? std::nullopt : type.device();
    return make_apply(*this, inputs, TensorType(type.dtype(), shape, device));
  }

 private:
  // Read-only as in NumPy: several elements may share one address.
  Array shaped(const Array& source, const Shape& shape) const override {
    return source.broadcast_to(shape).as_readonly();
  }
  Variable input_gradient(const Variable& g, const Variable& x) const override {
    return expression::sum_to(g, x);
  }
};

[[maybe_unused]] const bool reshape_registered =
    register_op_with<Reshape, std::vector<std::int64_t>>("reshape", "shape");
[[maybe_unused]] const bool broadcast_to_registered =
    register_op_with<BroadcastTo, std::vector<std::int64_t>>("broadcast_to", "shape");

}  // namespace
}  // namespace spanwise::ops
