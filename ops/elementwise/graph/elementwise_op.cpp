// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "elementwise_op.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "../elementwise_compute.hpp"
#include "fused_op.hpp"
#include "spanwise/core/device.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/op_sdk.hpp"
#include "spanwise/strided/walk.hpp"

// Elementwise operations, casts and users' operations as ops of graphs.
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
  std::vector<int> moved_inputs(const Apply&) const override {
    return op_ == OpId::where ? std::vector{1, 2} : std::vector<int>();
  }
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

// ---- casts

namespace {

/// The same numbers in another dtype, as NumPy's astype makes them.
class CastOp final : public SameShapeOp {
 public:
  explicit CastOp(std::string_view dtype)
      : SameShapeOp(text("Cast{", DType::parse(dtype), '}')), dtype_(DType::parse(dtype)) {}

  Ref<Apply> make_node(std::span<const Variable> inputs) const override {
    expect_arity(*this, inputs, 1);
    const TensorType& type = inputs[0].type();
    for (const DType dtype : {type.dtype(), dtype_})
      if (!dtype.is_computable()) fail<DTypeError>(name(), ": cannot compute on ", dtype);
    return make_apply(*this, inputs, TensorType(dtype_, type.shape(), type.device()));
  }
  std::vector<int> moved_inputs(const Apply&) const override { return {0}; }

  std::vector<Cotangent> gradient(const Apply&, std::span<const Cotangent> outputs) const override {
    return {outputs[0]};
  }

  std::unique_ptr<Thunk> make_thunk(const ThunkContext& context) const override {
    return make_async_thunk([from = context.input(0), to = context.output(0), dtype = dtype_,
                             device = context.device()] {
      copy(*from->value, output_array(*to, from->value->shape(), dtype, device));
    });
  }

 private:
  DType dtype_;
};

[[maybe_unused]] const bool cast_registered =
    register_op_with<CastOp, std::string>("cast", "dtype");

// ---- users' operations

using Parameter = UserOpSpec::Parameter;

/// An op that computes a user's ElementBody.
class UserOp final : public Op, public HasElementBody {
 public:
  explicit UserOp(UserOpSpec spec) : spec_(std::move(spec)) { check(); }

  std::string name() const override { return spec_.name; }

  Ref<Apply> make_node(std::span<const Variable> inputs) const override {
    expect_arity(*this, inputs, static_cast<int>(spec_.inputs.size()));
    const auto types = bind_letters(inputs);
    const Shape shape = broadcast_types(spec_.name, inputs);
    std::vector<Variable> outputs;
    for (const Parameter& output : spec_.outputs)
      outputs.emplace_back(
          TensorType(dtype_of(output, types), shape, common_device(*this, inputs)));
    return Apply::make(Ref<const Op>(this), {inputs.begin(), inputs.end()}, std::move(outputs));
  }

  std::shared_ptr<const ElementBody> element_body(const Apply& node) const override {
    auto body = std::make_shared<ElementBody>();
    body->op = spec_.name;
    body->operation = spec_.operation;
    body->preamble = spec_.preamble;
    body->types = bind_letters(node.inputs());
    for (const Parameter& input : spec_.inputs)
      body->inputs.push_back({input.name, dtype_of(input, body->types)});
    for (const Parameter& output : spec_.outputs)
      body->outputs.push_back({output.name, dtype_of(output, body->types)});
    return body;
  }

  std::unique_ptr<Thunk> make_thunk(const ThunkContext& context) const override {
    const auto body = element_body(context.node());
    Fused fused;
    for (const ElementBody::Value& input : body->inputs)
      fused.program.inputs.push_back(input.dtype);
    for (std::size_t k = 0; k < body->outputs.size(); ++k) {
      ProgramStep step{.signature = body_signature(body->outputs[k].dtype),
                       .body = {body, static_cast<int>(k)}};
      for (std::size_t i = 0; i < body->inputs.size(); ++i) step.arguments[i] = static_cast<int>(i);
      fused.program.steps.push_back(std::move(step));
      fused.program.outputs.push_back(static_cast<int>(body->inputs.size() + k));
    }
    return fused_thunk(std::make_shared<const Fused>(std::move(fused)), context);
  }

  bool takes_host_scalars() const override { return true; }
  std::vector<ExtentSource> extent_sources(const Apply& node, int, int axis) const override {
    return broadcast_sources(node.inputs(), node.output(0).type().rank() - axis);
  }
  std::vector<Cotangent> gradient(const Apply& node,
                                  std::span<const Cotangent> outputs) const override {
    return spec_.gradient ? spec_.gradient(node, outputs) : Op::gradient(node, outputs);
  }
  bool equals(const Op& other) const override {
    const auto* op = dynamic_cast<const UserOp*>(&other);
    // Gradient rules cannot be compared, so an op with one equals only itself.
    return this == &other ||
           (op != nullptr && !spec_.gradient && !op->spec_.gradient &&
            op->spec_.name == spec_.name && op->spec_.operation == spec_.operation &&
            op->spec_.preamble == spec_.preamble && op->spec_.inputs == spec_.inputs &&
            op->spec_.outputs == spec_.outputs);
  }
  std::size_t hash() const override { return std::hash<std::string>()(spec_.operation); }

 private:
  using LetterDtypes = std::vector<std::pair<std::string, DType>>;

  void check() const {
    const auto& inputs = spec_.inputs;
    if (inputs.empty() || inputs.size() > max_operands || spec_.outputs.empty() ||
        spec_.outputs.size() > static_cast<std::size_t>(max_program_outputs))
      fail<ArgumentError>(spec_.name, ": expected 1 to ", max_operands, " inputs and 1 to ",
                          max_program_outputs, " outputs, got ", inputs.size(), " and ",
                          spec_.outputs.size());
    for (const Parameter& output : spec_.outputs)
      if (!output.dtype && std::none_of(inputs.begin(), inputs.end(), [&](const Parameter& input) {
            return input.dtype_letter == output.dtype_letter;
          }))
        fail<ArgumentError>(
            spec_.name, ": output ", output.name, " has the dtype ", output.dtype_letter,
            ", which no input has; give a letter of an input, or a dtype such as float32");
  }

  // The dtype of each letter. Throws DTypeError where two inputs of one letter differ.
  LetterDtypes bind_letters(std::span<const Variable> inputs) const {
    LetterDtypes types;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const Parameter& input = spec_.inputs[i];
      const DType dtype = inputs[i].type().dtype();
      if (!dtype.is_computable() || dtype.is_complex())
        fail<DTypeError>(spec_.name, ": input ", input.name,
                         ": expected bool, an integer or a floating dtype, got ", dtype,
                         "; pass the real and imaginary parts");
      std::optional<DType> expected = input.dtype;
      for (const auto& [letter, bound] : types)
        if (!input.dtype && letter == input.dtype_letter) expected = bound;
      if (expected && *expected != dtype)
        fail<DTypeError>(spec_.name, ": input ", input.name, ": expected ", *expected,
                         input.dtype ? "" : text(", as other inputs of dtype ", input.dtype_letter),
                         ", got ", dtype, "; cast it");
      if (!expected) types.emplace_back(input.dtype_letter, dtype);
    }
    return types;
  }

  static DType dtype_of(const Parameter& parameter, const LetterDtypes& types) {
    if (parameter.dtype) return *parameter.dtype;
    return std::find_if(types.begin(), types.end(),
                        [&](const auto& type) { return type.first == parameter.dtype_letter; })
        ->second;
  }

  UserOpSpec spec_;
};

}  // namespace

Ref<const Op> user_op(UserOpSpec spec) { return make_ref<const UserOp>(std::move(spec)); }

}  // namespace spanwise::ops
