// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/op_sdk.hpp"

namespace spanwise::ops {
namespace {

/// The value on one device, whatever the function's (Theano's x.transfer(target)).
class Transfer final : public Op {
 public:
  explicit Transfer(Device target) : target_(target) {}

  std::string name() const override { return text("Transfer{", target_, "}"); }
  // Where the value is there already, it is shared.
  AliasMap view_map() const override { return {{0, {0}}}; }
  bool equals(const Op& other) const override {
    const auto* transfer = dynamic_cast<const Transfer*>(&other);
    return transfer != nullptr && transfer->target_ == target_;
  }
  std::size_t hash() const override { return std::hash<std::string>()(name()); }

  Ref<Apply> make_node(std::span<const Variable> inputs) const override {
    expect_arity(*this, inputs, 1);
    const TensorType& type = inputs[0].type();
    return Apply::make(Ref<const Op>(this), {inputs[0]},
                       {Variable(TensorType(type.dtype(), type.shape(), target_))});
  }

  std::unique_ptr<Thunk> make_thunk(const ThunkContext& context) const override {
    return spanwise::make_thunk(
        [from = context.input(0), to = context.output(0), target = target_] {
          to->value = to_device(*from->value, target);
        });
  }

 private:
  Device target_;
};

Ref<const Op> make_transfer(const OpProperties& properties) {
  return make_ref<const Transfer>(
      Device::parse(property<std::string>("transfer", properties, "device")));
}

[[maybe_unused]] const bool transfer_registered = register_op("transfer", make_transfer);

}  // namespace
}  // namespace spanwise::ops
