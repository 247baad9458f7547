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
#include "spanwise/runtime/copy.hpp"
#include "spanwise/op_sdk.hpp"
#include "spanwise/core/device.hpp"

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
  RowPassThunk(std::shared_ptr<const PassAndNodes> shared, const ThunkContext& context)
      : shared_(std::move(shared)),
        runner_(shared_->pass, ranks_of(context.node()), context.device()),
        nodes_(shared_->nodes, context) {
    for (const Variable& output : context.node().outputs())
      dtypes_.push_back(output.type().dtype());
  }

  bool is_async() const override { return !runs_on_host(nodes_.device); }

  std::vector<int> run() override {
    const auto inputs = nodes_.take_operands();
    if (!runner_.accepts(inputs)) {
      nodes_.run();
      return {};
    }
    // Kept only during a call: output_array() reuses memory that nothing else refers to.
    std::vector<Array> outputs;
    outputs.reserve(nodes_.outputs.size());
    const RowPass& pass = shared_->pass;
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
  std::shared_ptr<const PassAndNodes> shared_;
  RowPassRunner runner_;
  std::vector<DType> dtypes_;
  SeparateNodes nodes_;
};

class RowPassOp final : public Op {
 public:
  explicit RowPassOp(std::shared_ptr<const PassAndNodes> shared) : shared_(std::move(shared)) {
    const RowPass& pass = shared_->pass;
    name_ = text("RowPass{", pass.program.text(), "; alpha=", pass.alpha, ", beta=", pass.beta);
    if (pass.sum_program) name_ += text("; ", pass.sum_program->text());
    name_ += "}";
  }

  const RowPass& pass() const { return shared_->pass; }
  std::string name() const override { return name_; }
  bool equals(const Op& other) const override {
    const auto* same = dynamic_cast<const RowPassOp*>(&other);
    return same != nullptr && same->pass() == pass();
  }
  std::size_t hash() const override { return shared_->pass.program.hash(); }

  Ref<Apply> make_node(std::span<const Variable> inputs) const override {
    expect_arity(*this, inputs, static_cast<int>(shared_->pass.inputs()));
    std::vector<Variable> outputs;
    for (const Variable& output : shared_->nodes.outputs) outputs.emplace_back(output.type());
    return Apply::make(Ref<const Op>(this), {inputs.begin(), inputs.end()}, std::move(outputs));
  }
  std::unique_ptr<Thunk> make_thunk(const ThunkContext& context) const override {
    return std::make_unique<RowPassThunk>(shared_, context);
  }
  bool takes_host_scalars() const override { return true; }

 private:
  std::shared_ptr<const PassAndNodes> shared_;
  std::string name_;
};

}  // namespace

Ref<const Op> row_pass_op(RowPass pass, FusedNodes nodes) {
  return make_ref<const RowPassOp>(
      std::make_shared<const PassAndNodes>(PassAndNodes{std::move(pass), std::move(nodes)}));
}

const RowPass* row_pass_of(const Op& op) {
  const auto* row_pass = dynamic_cast<const RowPassOp*>(&op);
  return row_pass == nullptr ? nullptr : &row_pass->pass();
}

}  // namespace spanwise::ops
