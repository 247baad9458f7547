// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/op_sdk.hpp"
#include "spanwise/op_sdk/expression.hpp"

// Values that gradients treat as constants (theano/gradient.py: ConsiderConstant,
// DisconnectedGrad).
namespace spanwise::ops {
namespace {

/// Its input, as a view. The derivative is zero, or with `is_disconnected` there is no connection.
class ConsiderConstant final : public Op {
 public:
  explicit ConsiderConstant(bool is_disconnected) : is_disconnected_(is_disconnected) {}

  std::string name() const override {
    return is_disconnected_ ? "DisconnectedGrad" : "ConsiderConstant";
  }
  AliasMap view_map() const override { return {{0, {0}}}; }
  bool connects(const Apply&, int, int) const override { return !is_disconnected_; }

  Ref<Apply> make_node(std::span<const Variable> inputs) const override {
    expect_arity(*this, inputs, 1);
    return Apply::make(Ref<const Op>(this), {inputs[0]}, {Variable(inputs[0].type())});
  }

  std::vector<ExtentSource> extent_sources(const Apply&, int, int axis) const override {
    return {{0, axis}};
  }
  std::vector<Cotangent> gradient(const Apply& node, std::span<const Cotangent>) const override {
    return {expression::zeros_like(node.inputs()[0])};
  }

  std::unique_ptr<Thunk> make_thunk(const ThunkContext& context) const override {
    return make_async_thunk(
        [from = context.input(0), to = context.output(0), device = context.device()] {
          to->value = to_device(*from->value, device);
        });
  }

 private:
  bool is_disconnected_;
};

bool register_constant(const char* name, bool is_disconnected) {
  return register_op(
      name, [op = Ref<const Op>(make_ref<const ConsiderConstant>(is_disconnected))] { return op; });
}

[[maybe_unused]] const bool constants_registered =
    register_constant("consider_constant", false) && register_constant("disconnected_grad", true);

}  // namespace
}  // namespace spanwise::ops
