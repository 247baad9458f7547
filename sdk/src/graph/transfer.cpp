// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/graph/op.hpp"

#include <array>

#include "spanwise/runtime/copy.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise {
namespace {

class Transfer final : public Op {
 public:
  explicit Transfer(Device target) : target_(target) {}

  std::string name() const override { return text("Transfer{", target_, "}"); }
  // The output shares the input's memory where that is on the target already.
  AliasMap view_map() const override { return {{0, {0}}}; }
  bool equals(const Op& other) const override { return transfer_target(other) == target_; }
  std::size_t hash() const override { return std::hash<std::string>()(name()); }

  Ref<Apply> make_node(std::span<const Variable> inputs) const override {
    if (inputs.size() != 1) fail<GraphError>(name(), ": expected 1 input, got ", inputs.size());
    const TensorType& type = inputs[0].type();
    return Apply::make(Ref<const Op>(this), {inputs[0]},
                       {Variable(TensorType(type.dtype(), type.shape(), target_))});
  }

  std::vector<ExtentSource> extent_sources(const Apply&, int, int axis) const override {
    return {{0, axis}};
  }
  std::vector<Cotangent> gradient(const Apply& node,
                                  std::span<const Cotangent> outputs) const override {
    const std::optional<Device> source_device = node.inputs()[0].type().device();
    if (!source_device) return {outputs[0]};
    return {transfer_op(*source_device)->make_node(std::array{outputs[0].variable()})->output(0)};
  }

  std::unique_ptr<Thunk> make_thunk(const ThunkContext& context) const override {
    return spanwise::make_thunk(
        [from = context.input(0), to = context.output(0), target = target_] {
          to->value = to_device(*from->value, target);
        });
  }

  Device target() const noexcept { return target_; }

 private:
  Device target_;
};

}  // namespace

Ref<const Op> transfer_op(Device target) {
  Ref<const Op> op = make_ref<const Transfer>(target);
  op->set_recipe({"transfer", {{"device", text(target)}}});
  return op;
}

std::optional<Device> transfer_target(const Op& op) noexcept {
  const auto* transfer = dynamic_cast<const Transfer*>(&op);
  if (transfer == nullptr) return std::nullopt;
  return transfer->target();
}

}  // namespace spanwise
