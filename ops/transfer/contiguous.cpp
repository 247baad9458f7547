// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/op_sdk.hpp"

namespace spanwise::ops {
namespace {

/// The same elements in C order: the array itself if it is C-contiguous, else a copy (Theano's
/// GpuContiguous).
class Contiguous final : public Op {
 public:
  std::string name() const override { return "Contiguous"; }
  AliasMap view_map() const override { return {{0, {0}}}; }

  Ref<Apply> make_node(std::span<const Variable> inputs) const override {
    expect_arity(*this, inputs, 1);
    return Apply::make(Ref<const Op>(this), {inputs[0]}, {Variable(inputs[0].type())});
  }

  std::vector<ExtentSource> extent_sources(const Apply&, int, int axis) const override {
    return {{0, axis}};
  }
  std::vector<Cotangent> gradient(const Apply&, std::span<const Cotangent> outputs) const override {
    return {outputs[0]};
  }

  std::unique_ptr<Thunk> make_thunk(const ThunkContext& context) const override {
    return make_async_thunk(
        [from = context.input(0), to = context.output(0), device = context.device()] {
          to->value = contiguous(to_device(*from->value, device));
        });
  }
};

[[maybe_unused]] const bool contiguous_registered =
    register_op("contiguous", [op = Ref<const Op>(make_ref<const Contiguous>())] { return op; });

}  // namespace
}  // namespace spanwise::ops
