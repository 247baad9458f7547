// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "elementwise_op.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "../compute.hpp"
#include "spanwise/strided/walk.hpp"
#include "spanwise/core/device.hpp"

namespace spanwise::ops {
namespace {

constexpr int overwrites_nothing = -1;

class ElementwiseThunk final : public Thunk {
 public:
  ElementwiseThunk(OpId op, int overwritten, const ThunkContext& context)
      : op_(op),
        overwritten_(overwritten),
        signature_(signature_of(op, context.node().inputs())),
        output_(context.output(0)),
        device_(context.device()),
        count_(context.node().inputs().size()) {
    for (std::size_t i = 0; i < count_; ++i) inputs_[i] = context.input(static_cast<int>(i));
  }

  bool is_async() const override { return true; }
  std::vector<int> run() override {
    std::array<Operand, max_inputs> operands;
    for (std::size_t i = 0; i < count_; ++i) operands[i].array = &operand(i);
    const std::span<const Operand> all(operands.data(), count_);
    const Shape shape = common_shape(traits_of(op_).name, all);
    if (overwritten_ != overwrites_nothing && try_overwrite(operands, shape))
      compute(signature_, all, *output_->value);
    else
      // The array is new, or one of the last call that nothing else refers to.
      compute_disjoint(
          signature_, all,
          output_array(*output_, layout_of_result(all, shape), signature_.result, device_));
    return {};
  }

 private:
  // Makes the input that may be overwritten the output, if it has the shape, dtype and device of
  // the result and is writable.
  bool try_overwrite(std::span<const Operand> operands, const Shape& shape) {
    const Array& input = *operands[static_cast<std::size_t>(overwritten_)].array;
    const bool fits = input.shape() == shape && input.dtype() == signature_.result &&
                      input.device() == device_ && !input.readonly();
    if (fits) output_->value = input;
    return fits;
  }

  const Array& operand(std::size_t i) {
    return on_device_or_number(*inputs_[i]->value, device_, moved_[i]);
  }

  OpId op_;
  int overwritten_;
  OpSignature signature_;
  std::array<Ref<Cell>, max_inputs> inputs_;
  Ref<Cell> output_;
  Device device_;
  std::size_t count_;
  std::array<std::optional<Array>, max_inputs> moved_;
};

// Theano's way to write that output 0 overwrites input i.
std::string overwriting_text(int overwritten) {
  return overwritten == overwrites_nothing ? "" : text("[(0, ", overwritten, ")]");
}

class ElementwiseOp final : public NamedOp {
 public:
  explicit ElementwiseOp(OpId op, int overwritten = overwrites_nothing)
      : NamedOp(display_name(op) + overwriting_text(overwritten)),
        op_(op),
        overwritten_(overwritten) {}

  OpId id() const noexcept { return op_; }

  Ref<Apply> make_node(std::span<const Variable> inputs) const override {
    expect_arity(*this, inputs, traits_of(op_).inputs);
    TensorType type(signature_of(op_, inputs).result, broadcast_types(name(), inputs),
                    common_device(*this, inputs));
    return make_apply(*this, inputs, std::move(type));
  }

  std::unique_ptr<Thunk> make_thunk(const ThunkContext& context) const override {
    return std::make_unique<ElementwiseThunk>(op_, overwritten_, context);
  }
  AliasMap destroy_map() const override {
    if (overwritten_ == overwrites_nothing) return {};
    return {{0, {overwritten_}}};
  }
  Ref<const Op> overwriting(int input) const override {
    return make_ref<const ElementwiseOp>(op_, input);
  }
  bool allows_aliased_inplace() const override { return true; }
  bool takes_host_scalars() const override { return true; }
  std::vector<ExtentSource> extent_sources(const Apply& node, int, int axis) const override {
    return broadcast_sources(node.inputs(), node.output(0).type().rank() - axis);
  }
  std::vector<Cotangent> gradient(const Apply& node,
                                  std::span<const Cotangent> outputs) const override {
    return elementwise_gradient(op_, node, outputs[0]);
  }

 private:
  OpId op_;
  int overwritten_;
};

bool register_elementwise() {
  for (int i = 0; i < op_count; ++i) {
    const auto op = static_cast<OpId>(i);
    register_op(traits_of(op).name, [op] { return elementwise_op(op); });
  }
  return true;
}

[[maybe_unused]] const bool elementwise_registered = register_elementwise();

}  // namespace

OpSignature signature_of(OpId op, std::span<const Variable> operands) {
  std::array<DType, max_inputs> dtypes;
  std::transform(operands.begin(), operands.end(), dtypes.begin(),
                 [](const Variable& operand) { return operand.type().dtype(); });
  return resolve(op, std::span(dtypes.data(), operands.size()));
}

bool is_host_number(const Array& array) noexcept {
  return array.rank() == 0 && runs_on_host(array.device());
}

const Array& on_device_or_number(const Array& array, Device device, std::optional<Array>& moved) {
  // NOLINTNEXTLINE(bugprone-return-const-ref-from-parameter): no caller passes a temporary
  if (array.device() == device || is_host_number(array)) return array;
  return moved.emplace(to_device(array, device));
}

bool is_elementwise(const Op& op) { return dynamic_cast<const ElementwiseOp*>(&op) != nullptr; }

std::optional<OpId> elementwise_id(const Op& op) {
  const auto* elementwise = dynamic_cast<const ElementwiseOp*>(&op);
  return elementwise != nullptr && elementwise->destroy_map().empty()
             ? std::optional(elementwise->id())
             : std::nullopt;
}

Ref<const Op> elementwise_op(OpId op) {
  // One object each: ops are immutable, and one object compares fastest.
  static const auto& all = *new std::vector<Ref<const Op>>([] {
    std::vector<Ref<const Op>> ops;
    for (int i = 0; i < op_count; ++i) {
      ops.push_back(make_ref<const ElementwiseOp>(static_cast<OpId>(i)));
      ops.back()->set_recipe({traits_of(static_cast<OpId>(i)).name});
    }
    return ops;
  }());
  return all[static_cast<std::size_t>(op)];
}

}  // namespace spanwise::ops
