// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "row_pass_op.hpp"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "../graph/elementwise_op.hpp"
#include "../graph/separate_nodes.hpp"
#include "run_row_pass.hpp"
#include "spanwise/copy.hpp"
#include "spanwise/op_sdk.hpp"
#include "spanwise/working_device.hpp"

namespace spanwise::ops {
namespace {

struct PassAndNodes {
  RowPass pass;
  FusedNodes nodes;
};

std::vector<int> ranks_of(const Apply& node) {
  std::vector<int> ranks;
  for (const Variable& input : node.inputs()) ranks.push_back(input.type().rank());
  return ranks;
}

class RowPassThunk final : public Thunk {
 public:
  RowPassThunk(std::shared_ptr<const PassAndNodes> parts, const ThunkContext& context)
      : parts_(std::move(parts)),
        runner_(parts_->pass, ranks_of(context.node()), context.device()),
        nodes_(parts_->nodes, context) {
    for (const Variable& output : context.node().outputs())
      dtypes_.push_back(output.type().dtype());
  }

  bool is_async() const override { return !runs_on_host(nodes_.device); }

  std::vector<int> run() override {
    const auto inputs = nodes_.take_operands();
    if (!runner_.takes(inputs)) {
      nodes_.run();
      return {};
    }
    // Only during a call: another reference would keep the buffers from being used again.
    std::vector<Array> outputs;
    outputs.reserve(nodes_.outputs.size());
    const RowPass& pass = parts_->pass;
    for (std::size_t i = 0; i < nodes_.outputs.size(); ++i) {
      Shape shape;
      if (i < pass.columns_position()) shape = Shape{inputs[0]->shape()[0]};
      if (i == pass.columns_position()) shape = Shape{inputs[0]->shape()[1]};
      outputs.push_back(output_array(*nodes_.outputs[i], shape, dtypes_[i], nodes_.device));
    }
    runner_.run(inputs, outputs);
    return {};
  }

 private:
  std::shared_ptr<const PassAndNodes> parts_;
  RowPassRunner runner_;
  std::vector<DType> dtypes_;
  SeparateNodes nodes_;
};

class RowPassOp final : public Op {
 public:
  explicit RowPassOp(std::shared_ptr<const PassAndNodes> parts) : parts_(std::move(parts)) {
    const RowPass& pass = parts_->pass;
    name_ = text("RowPass{", pass.program.text(), "; alpha=", pass.alpha, ", beta=", pass.beta);
    if (pass.after) name_ += text("; ", pass.after->text());
    name_ += "}";
  }

  const RowPass& pass() const { return parts_->pass; }
  std::string name() const override { return name_; }
  bool equals(const Op& other) const override {
    const auto* same = dynamic_cast<const RowPassOp*>(&other);
    return same != nullptr && same->pass() == pass();
  }
  std::size_t hash() const override { return parts_->pass.program.hash(); }

  Ref<Apply> make_node(std::span<const Variable> inputs) const override {
    expect_arity(*this, inputs, static_cast<int>(parts_->pass.inputs()));
    std::vector<Variable> outputs;
    for (const Variable& output : parts_->nodes.outputs) outputs.emplace_back(output.type());
    return Apply::make(Ref<const Op>(this), {inputs.begin(), inputs.end()}, std::move(outputs));
  }
  std::unique_ptr<Thunk> make_thunk(const ThunkContext& context) const override {
    return std::make_unique<RowPassThunk>(parts_, context);
  }
  bool takes_host_scalars() const override { return true; }

 private:
  std::shared_ptr<const PassAndNodes> parts_;
  std::string name_;
};

}  // namespace

Ref<const Op> row_pass_op(RowPass pass, FusedNodes nodes) {
  return make_ref<const RowPassOp>(
      std::make_shared<const PassAndNodes>(PassAndNodes{std::move(pass), std::move(nodes)}));
}

const RowPass* row_pass_of(const Op& op) {
  const auto* found = dynamic_cast<const RowPassOp*>(&op);
  return found == nullptr ? nullptr : &found->pass();
}

}  // namespace spanwise::ops
