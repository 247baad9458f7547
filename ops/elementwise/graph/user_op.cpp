// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "user_op.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "elementwise_op.hpp"
#include "fused_op.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::ops {
namespace {

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
    const Overwrites none{};
    return fused_thunk(std::make_shared<const Fused>(std::move(fused)), none, context);
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
