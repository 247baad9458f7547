// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "fused_op.hpp"

#include <algorithm>
#include <utility>

#include "elementwise_op.hpp"

namespace spanwise::ops {
namespace {

// The program's text; the beginning of a long one.
std::string abbreviated_text(const ElementProgram& program) {
  constexpr std::size_t max_length = 400;
  std::string whole = program.text();
  if (whole.size() <= max_length) return whole;
  return text(whole.substr(0, max_length), "... (", program.steps.size(), " operations)");
}

bool includes_files(const ProgramStep& step) {
  return step.body && step.body.element_body->preamble.find("#include") != std::string::npos;
}

class FusedOp final : public Op, public ElementProducer {
 public:
  explicit FusedOp(std::shared_ptr<const Fused> fused, Overwrites overwrites = {})
      : fused_(std::move(fused)), program_(fused_->program), overwrites_(std::move(overwrites)) {
    name_ = "Composite{" + abbreviated_text(program_) + "}";
    // Theano's way to write that output k overwrites input i.
    std::string pairs;
    for (const Overwrite& pair : overwrites_)
      pairs += text(pairs.empty() ? "" : ", ", "(", pair.output, ", ", pair.input, ")");
    if (!pairs.empty()) name_ += "[" + pairs + "]";
  }

  const Fused* fused() const { return overwrites_.empty() ? fused_.get() : nullptr; }
  std::string name() const override { return name_; }
  bool equals(const Op& other) const override {
    const auto* same = dynamic_cast<const FusedOp*>(&other);
    return same != nullptr && same->overwrites_ == overwrites_ && same->program_ == program_ &&
           same->fused_->required == fused_->required;
  }
  std::size_t hash() const override { return program_.hash(); }

  Ref<Apply> make_node(std::span<const Variable> inputs) const override {
    expect_arity(*this, inputs, static_cast<int>(program_.inputs.size()));
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i].type().dtype() != program_.inputs[i])
        fail<DTypeError>(name_, ": expected an input ", i, " of dtype ", program_.inputs[i],
                         ", got ", inputs[i].type().dtype());
    const Shape shape = broadcast_types(name_, inputs);
    std::vector<Variable> outputs;
    for (const int value : program_.outputs)
      outputs.emplace_back(TensorType(program_.dtype(value), shape, common_device(*this, inputs)));
    return Apply::make(Ref<const Op>(this), {inputs.begin(), inputs.end()}, std::move(outputs));
  }

  std::unique_ptr<Thunk> make_thunk(const ThunkContext& context) const override {
    return fused_thunk(fused_, overwrites_, context);
  }
  // A reduction's kernel has the program in a namespace, where no file can be included.
  bool has_element_source() const override {
    return program_.outputs.size() == 1 && overwrites_.empty() &&
           std::none_of(program_.steps.begin(), program_.steps.end(), includes_files);
  }
  std::unique_ptr<ElementSource> element_source(const ThunkContext& context) const override {
    return fused_elements(fused_, context);
  }
  AliasMap destroy_map() const override {
    AliasMap map;
    for (const Overwrite& pair : overwrites_) map[pair.output] = {pair.input};
    return map;
  }
  Ref<const Op> overwriting(int input) const override {
    const DType dtype = program_.inputs[static_cast<std::size_t>(input)];
    for (int k = 0; k < static_cast<int>(program_.outputs.size()); ++k) {
      const bool is_taken = std::any_of(overwrites_.begin(), overwrites_.end(),
                                        [&](const Overwrite& pair) { return pair.output == k; });
      if (is_taken || program_.dtype(program_.outputs[static_cast<std::size_t>(k)]) != dtype)
        continue;
      Overwrites more = overwrites_;
      more.push_back({k, input});
      return make_ref<const FusedOp>(fused_, std::move(more));
    }
    return {};
  }
  bool allows_aliased_inplace() const override { return true; }
  bool takes_host_scalars() const override { return true; }
  std::vector<ExtentSource> extent_sources(const Apply& node, int, int axis) const override {
    return broadcast_sources(node.inputs(), node.output(0).type().rank() - axis);
  }

 private:
  std::shared_ptr<const Fused> fused_;
  const ElementProgram& program_;
  Overwrites overwrites_;
  std::string name_;
};

}  // namespace

const Fused* fused_of(const Op& op) {
  const auto* fused_op = dynamic_cast<const FusedOp*>(&op);
  return fused_op == nullptr ? nullptr : fused_op->fused();
}

Ref<const Op> fused_op(ElementProgram program, std::vector<RequiredExtent> required,
                       FusedNodes nodes) {
  return make_ref<const FusedOp>(std::make_shared<const Fused>(
      Fused{std::move(program), std::move(required), std::move(nodes)}));
}

}  // namespace spanwise::ops
