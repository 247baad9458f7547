// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "spanwise/graph/op.hpp"
#include "spanwise/op_sdk.hpp"
#include "spanwise/op_sdk/expression.hpp"

// Ops that choose, pass on or move a value: ifelse, contiguous, consider_constant,
// disconnected_grad and transfer.
namespace spanwise::ops {
namespace {

class IfElseThunk final : public Thunk {
 public:
  explicit IfElseThunk(const ThunkContext& context)
      : condition_(context.input(0)),
        branches_{context.input(1), context.input(2)},
        output_(context.output(0)),
        device_(context.device()) {}

  bool lazy() const override { return true; }

  std::vector<int> run() override {
    if (!condition_->computed) return {0};
    const bool is_true = item(*condition_->value).as_double() != 0;
    Cell& chosen = *branches_[is_true ? 0 : 1];
    if (!chosen.computed) return {is_true ? 1 : 2};
    output_->value = to_device(*chosen.value, device_);
    output_->computed = true;
    return {};
  }

 private:
  Ref<Cell> condition_, branches_[2], output_;
  Device device_;
};

/// Input 1 where the number in input 0 is not 0, else input 2, as a view. The input that
/// is not chosen is not computed (theano/ifelse.py).
class IfElse final : public NamedOp {
 public:
  IfElse() : NamedOp("IfElse") {}
  AliasMap view_map() const override { return {{0, {1, 2}}}; }
  bool takes_host_scalars() const override { return true; }
  std::vector<int> moved_inputs(const Apply&) const override { return {1, 2}; }
  bool connects(const Apply&, int input, int) const override { return input != 0; }

  Ref<Apply> make_node(std::span<const Variable> inputs) const override {
    expect_arity(*this, inputs, 3);
    const TensorType &condition = inputs[0].type(), &a = inputs[1].type(), &b = inputs[2].type();
    if (condition.rank() != 0)
      fail<GraphError>("ifelse: expected a condition of rank 0, got ", condition);
    if (a.dtype() != b.dtype() || a.rank() != b.rank())
      fail<GraphError>("ifelse: expected branches of one dtype and rank, got ", a, " and ", b);
    Shape shape = a.shape();
    for (int axis = 0; axis < a.rank(); ++axis)
      if (shape[axis] != b.shape()[axis]) shape[axis] = TensorType::any;
    return make_apply(
        *this, inputs,
        TensorType(a.dtype(), std::move(shape), common_device(*this, inputs.subspan(1))));
  }

  std::optional<InputCondition> needed_if(int input) const override {
    if (input == 0) return std::nullopt;
    return InputCondition{.input = 0, .is_true = input == 1};
  }

  std::vector<Cotangent> gradient(const Apply&, std::span<const Cotangent> outputs) const override {
    return {Cotangent(), outputs[0], outputs[0]};
  }

  std::unique_ptr<Thunk> make_thunk(const ThunkContext& context) const override {
    return std::make_unique<IfElseThunk>(context);
  }
};

[[maybe_unused]] const bool ifelse_registered =
    register_op("ifelse", [op = Ref<const Op>(make_ref<const IfElse>())] { return op; });

/// Ops whose output equals the input, and may be a view of it.
class IdentityOp : public SameShapeOp {
 public:
  using SameShapeOp::SameShapeOp;
  AliasMap view_map() const override { return {{0, {0}}}; }
  std::vector<int> moved_inputs(const Apply&) const override { return {0}; }

  Ref<Apply> make_node(std::span<const Variable> inputs) const override {
    expect_arity(*this, inputs, 1);
    return make_apply(*this, inputs, inputs[0].type());
  }

  std::unique_ptr<Thunk> make_thunk(const ThunkContext& context) const override {
    return make_async_thunk([op = Ref<const IdentityOp>(this), from = context.input(0),
                             to = context.output(0), device = context.device()] {
      to->value = op->output_for(to_device(*from->value, device));
    });
  }

 private:
  virtual Array output_for(Array array) const { return array; }
};

/// The same elements in C order: the array itself if it is C-contiguous, else a copy (Theano's
/// GpuContiguous).
class Contiguous final : public IdentityOp {
 public:
  Contiguous() : IdentityOp("Contiguous") {}
  std::vector<Cotangent> gradient(const Apply&, std::span<const Cotangent> outputs) const override {
    return {outputs[0]};
  }

 private:
  Array output_for(Array array) const override { return contiguous(array); }
};

/// A value that gradients treat as a constant: the derivative is 0 (theano/gradient.py:
/// ConsiderConstant).
class ConsiderConstant : public IdentityOp {
 public:
  explicit ConsiderConstant(std::string name = "ConsiderConstant") : IdentityOp(std::move(name)) {}
  std::vector<Cotangent> gradient(const Apply& node, std::span<const Cotangent>) const override {
    return {expression::zeros_like(node.inputs()[0])};
  }
};

/// A value to which no derivative is propagated: its input is disconnected from the cost
/// (theano/gradient.py: DisconnectedGrad).
class DisconnectedGrad final : public ConsiderConstant {
 public:
  DisconnectedGrad() : ConsiderConstant("DisconnectedGrad") {}
  bool connects(const Apply&, int, int) const override { return false; }
};

template <class Kind>
bool register_identity(const char* name) {
  return register_op(name, [op = Ref<const Op>(make_ref<const Kind>())] { return op; });
}

[[maybe_unused]] const bool identities_registered =
    register_identity<Contiguous>("contiguous") &&
    register_identity<ConsiderConstant>("consider_constant") &&
    register_identity<DisconnectedGrad>("disconnected_grad");

Ref<const Op> make_transfer(const OpProperties& properties) {
  return transfer_op(named_device(property<std::string>("transfer", properties, "device")));
}

[[maybe_unused]] const bool transfer_registered = register_op("transfer", make_transfer);

}  // namespace
}  // namespace spanwise::ops
