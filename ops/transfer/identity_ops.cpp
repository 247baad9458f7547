// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/op_sdk.hpp"
#include "spanwise/op_sdk/expression.hpp"

namespace spanwise::ops {
namespace {

/// Ops whose output equals the input, and may be a view of it.
class IdentityOp : public SameShapeOp {
 public:
  using SameShapeOp::SameShapeOp;
  AliasMap view_map() const override { return {{0, {0}}}; }

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

}  // namespace
}  // namespace spanwise::ops
