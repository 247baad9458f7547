// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <utility>
#include <vector>

#include "index_pattern.hpp"
#include "selection.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/op_sdk/expression.hpp"

// x[index] in graphs, and copies of x with other values at the index. Named after Theano's ops
// (theano/tensor/subtensor.py).
namespace spanwise::ops {
namespace {

// `operands` followed by the inputs of `node` from `first` on, which belong to its index.
std::vector<Variable> with_indices(std::vector<Variable> operands, const Apply& node,
                                   std::size_t first) {
  const auto inputs = node.inputs().subspan(first);
  operands.insert(operands.end(), inputs.begin(), inputs.end());
  return operands;
}

// The derivative of x[index]: zeros with `g` added at the index.
std::vector<Cotangent> gradient_of_taking(const IndexPattern& pattern, const Apply& node,
                                          const Variable& g) {
  std::vector<Cotangent> derivatives(node.inputs().size());  // indices are disconnected
  // Without repeated indices, storing has the same result as adding, and is faster.
  const char* op = pattern.is_basic() ? "set_subtensor" : "inc_subtensor";
  const Variable zeros = expression::zeros_like(node.inputs()[0]);
  derivatives[0] =
      expression::apply(op, with_indices({expression::cast(zeros, g.type().dtype()), g}, node, 1),
                        {{"index", pattern.text()}});
  return derivatives;
}

/// x[index]: a view for integers, slices, new axes and an Ellipsis; a new array for an index with
/// index arrays or masks. Waits for a mask on a GPU: its number of true elements determines the
/// shape.
class Subtensor final : public NamedOp {
 public:
  explicit Subtensor(IndexPattern pattern)
      : NamedOp(text(pattern.is_basic() ? "" : "Advanced", "Subtensor{", pattern.text(), '}')),
        pattern_(std::move(pattern)) {}
  AliasMap view_map() const override {
    return pattern_.is_basic() ? AliasMap{{0, {0}}} : AliasMap{};
  }
  bool takes_host_scalars() const override { return true; }

  Ref<Apply> make_node(std::span<const Variable> inputs) const override {
    pattern_.check(*this, inputs, 1);
    const TensorType& type = inputs[0].type();
    Shape shape = pattern_.known_shape(type.shape(), inputs.subspan(1));
    const auto device = common_device(*this, pattern_.is_basic() ? inputs.first(1) : inputs);
    return make_apply(*this, inputs, TensorType(type.dtype(), std::move(shape), device));
  }

  // A view has the extents of the same view of any array of the shape of input 0.
  Variable inferred_extent(const Apply& node, int, int axis) const override {
    const Variable like =
        pattern_.is_basic() ? expression::shape_stand_in(node.inputs()[0]) : Variable();
    if (!like) return {};
    const Variable view =
        expression::apply("subtensor", with_indices({like}, node, 1), {{"index", pattern_.text()}});
    return expression::inferred_extent(view, axis);
  }
  std::vector<Cotangent> gradient(const Apply& node,
                                  std::span<const Cotangent> outputs) const override {
    return gradient_of_taking(pattern_, node, outputs[0].variable());
  }

  std::unique_ptr<Thunk> make_thunk(const ThunkContext& context) const override {
    const auto take = [op = Ref<const Subtensor>(this), cells = context.inputs(1),
                       from = context.input(0), to = context.output(0), device = context.device()] {
      const Array source = to_device(*from->value, device);
      const std::vector<IndexPart> key = op->pattern_.evaluate(cells, device);
      to->value = op->pattern_.is_basic() ? view_by(source, key) : index_by(source, key);
    };
    if (!pattern_.is_basic()) return spanwise::make_thunk(take);
    return make_async_thunk(take, are_on_host(context.node(), 1));
  }

 private:
  IndexPattern pattern_;
};

/// A copy of input 0 (input 0 itself if the op overwrites it) in which input 1, cast and broadcast,
/// is stored at the index or added there. An element that is indexed repeatedly gets the last
/// value, or all of them added.
class SetSubtensor final : public SameShapeOp {
 public:
  enum class Kind { set, add };
  explicit SetSubtensor(IndexPattern pattern, Kind kind, bool overwrites = false)
      : SameShapeOp(text(kind == Kind::set ? "SetSubtensor{" : "IncSubtensor{", pattern.text(), '}',
                         overwrites ? "[(0, 0)]" : "")),
        pattern_(std::move(pattern)),
        kind_(kind),
        overwrites_(overwrites) {}
  AliasMap destroy_map() const override { return overwrites_ ? AliasMap{{0, {0}}} : AliasMap{}; }
  Ref<const Op> overwriting(int input) const override {
    if (input != 0) return {};
    return make_ref<const SetSubtensor>(pattern_, kind_, true);
  }
  bool allows_aliased_inplace() const override { return true; }  // assignment handles overlap
  bool takes_host_scalars() const override { return true; }

  Ref<Apply> make_node(std::span<const Variable> inputs) const override {
    pattern_.check(*this, inputs, 2);
    const TensorType& type = inputs[0].type();
    const Shape indexed = pattern_.known_shape(type.shape(), inputs.subspan(2));
    if (inputs[1].type().rank() > indexed.size())
      fail<LayoutError>(name(), ": a value of rank ", inputs[1].type().rank(),
                        " does not fit elements of rank ", indexed.size());
    return make_apply(*this, inputs,
                      TensorType(type.dtype(), type.shape(), common_device(*this, inputs)));
  }

  std::vector<Cotangent> gradient(const Apply& node,
                                  std::span<const Cotangent> outputs) const override {
    using expression::apply, expression::number_like, expression::sum_to;
    const Variable& g = outputs[0].variable();
    const OpProperties index{{"index", pattern_.text()}};
    std::vector<Cotangent> derivatives(node.inputs().size());  // indices are disconnected
    derivatives[0] = g;
    if (kind_ == Kind::set)
      derivatives[0] = apply("set_subtensor", with_indices({g, number_like(0, g)}, node, 2), index);
    derivatives[1] =
        sum_to(apply("subtensor", with_indices({g}, node, 2), index), node.inputs()[1]);
    return derivatives;
  }

  std::unique_ptr<Thunk> make_thunk(const ThunkContext& context) const override {
    return spanwise::make_thunk([op = Ref<const SetSubtensor>(this), cells = context.inputs(2),
                                 from = context.input(0), value = context.input(1),
                                 to = context.output(0), device = context.device()] {
      const Array& source = *from->value;
      const bool in_place = op->overwrites_ && source.device() == device && !source.readonly();
      if (in_place)
        to->value = source;
      else
        copy(source, output_array(*to, source.shape(), source.dtype(), device));
      op->write(*to->value, op->pattern_.evaluate(cells, device), *value->value);
    });
  }

 private:
  void write(const Array& target, const std::vector<IndexPart>& key, const Array& value) const {
    if (kind_ == Kind::add)
      accumulate_by(target, key, to_device(value, target.device()), Accumulation::add);
    else if (pattern_.is_basic())
      copy(value, view_by(target, key));
    else
      assign_by(target, key, to_device(value, target.device()));
  }

  IndexPattern pattern_;
  Kind kind_;
  bool overwrites_;
};

// Registers an op of class `Kind`, which is made from its only property, an index, and `arguments`.
template <class Kind, class... Arguments>
bool register_indexed(const char* name, Arguments... arguments) {
  return register_op(name, [=](const OpProperties& properties) -> Ref<const Op> {
    expect_properties(name, properties, {"index"});
    return make_ref<const Kind>(IndexPattern(property<std::string>(name, properties, "index")),
                                arguments...);
  });
}

[[maybe_unused]] const bool subtensors_registered =
    register_indexed<Subtensor>("subtensor") &&
    register_indexed<SetSubtensor>("set_subtensor", SetSubtensor::Kind::set) &&
    register_indexed<SetSubtensor>("inc_subtensor", SetSubtensor::Kind::add);

}  // namespace
}  // namespace spanwise::ops
