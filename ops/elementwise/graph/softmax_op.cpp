// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "../row_pass/softmax.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fused_op.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/graph/rewrite.hpp"
#include "spanwise/op_sdk.hpp"
#include "spanwise/op_sdk/expression.hpp"
#include "spanwise/runtime/creation.hpp"

// softmax() in graphs: the operations that compute it one by one become one node, which reads its
// input once.
namespace spanwise::ops {
namespace {

using namespace expression;

struct SoftmaxNodes {
  int axis;
  bool is_logarithm;
  FusedNodes nodes;
};

class SoftmaxThunk final : public Thunk {
 public:
  SoftmaxThunk(std::shared_ptr<const SoftmaxNodes> shared, const ThunkContext& context)
      : shared_(std::move(shared)),
        nodes_(shared_->nodes, context),
        dtype_(context.node().output(0).type().dtype()) {}

  bool is_async() const override { return !runs_on_host(nodes_.device); }
  std::vector<int> run() override {
    const Array& x = *nodes_.take_operands()[0];
    const Array result = output_array(*nodes_.outputs[0], x.shape(), dtype_, nodes_.device);
    if (!softmax_into(x, shared_->axis, shared_->is_logarithm, result)) nodes_.run();
    return {};
  }

 private:
  std::shared_ptr<const SoftmaxNodes> shared_;
  SeparateNodes nodes_;
  DType dtype_;
};

class SoftmaxOp final : public Op {
 public:
  explicit SoftmaxOp(std::shared_ptr<const SoftmaxNodes> shared)
      : shared_(std::move(shared)),
        name_(
            text(shared_->is_logarithm ? "LogSoftmax" : "Softmax", "{axis=", shared_->axis, '}')) {}

  std::string name() const override { return name_; }
  bool equals(const Op& other) const override {
    return dynamic_cast<const SoftmaxOp*>(&other) != nullptr && other.name() == name_;
  }
  std::size_t hash() const override { return std::hash<std::string>()(name_); }
  Ref<Apply> make_node(std::span<const Variable> inputs) const override {
    expect_arity(*this, inputs, 1);
    return Apply::make(Ref<const Op>(this), {inputs.begin(), inputs.end()},
                       {Variable(shared_->nodes.outputs[0].type())});
  }
  std::unique_ptr<Thunk> make_thunk(const ThunkContext& context) const override {
    return std::make_unique<SoftmaxThunk>(shared_, context);
  }
  std::vector<ExtentSource> extent_sources(const Apply&, int, int axis) const override {
    return {{0, axis}};
  }
  std::vector<Cotangent> gradient(const Apply& node,
                                  std::span<const Cotangent> outputs) const override {
    const Variable y = node.output(0), &g = outputs[0].variable();
    const auto total = [&](const Variable& value) {
      return apply("sum", {value},
                   {{"axis", std::vector<std::int64_t>{shared_->axis}}, {"keepdims", true}});
    };
    if (shared_->is_logarithm) return {g - call("exp", y) * total(g)};
    return {y * (g - total(g * y))};
  }

 private:
  std::shared_ptr<const SoftmaxNodes> shared_;
  std::string name_;
};

// The node of softmax(x) along `axis`, or of its logarithm, and the nodes that compute it where one
// pass cannot.
Variable softmax_node(const Variable& x, int axis, bool is_logarithm) {
  const OpProperties along{{"axis", std::vector<std::int64_t>{axis}}, {"keepdims", true}};
  const Variable highest = apply("max", {x}, along), shifted = x - highest,
                 power = call("exp", shifted), sum = apply("sum", {power}, along);
  FusedNodes nodes{{}, {x}, {}};
  for (const Variable& value : {highest, shifted, power, sum})
    nodes.nodes.emplace_back(value.owner());
  if (is_logarithm) nodes.nodes.emplace_back(call("log", sum).owner());
  const Variable result = is_logarithm ? shifted - nodes.nodes.back()->output(0) : power / sum;
  nodes.nodes.emplace_back(result.owner());
  nodes.outputs.push_back(result);
  const Ref<const Op> op = make_ref<const SoftmaxOp>(
      std::make_shared<const SoftmaxNodes>(SoftmaxNodes{axis, is_logarithm, std::move(nodes)}));
  op->set_recipe({"log_softmax", {{"axis", std::int64_t{axis}}}});
  return (*op)(std::span(&x, 1))[0];
}

/// The registered op "log_softmax", whose nodes are of SoftmaxOp.
class LogSoftmaxOp final : public NamedOp {
 public:
  explicit LogSoftmaxOp(std::int64_t axis)
      : NamedOp(text("LogSoftmax{axis=", axis, '}')), axis_(static_cast<int>(axis)) {}
  Ref<Apply> make_node(std::span<const Variable> inputs) const override {
    expect_arity(*this, inputs, 1);
    const TensorType& type = inputs[0].type();
    if (!type.dtype().is_floating() || axis_ < 0 || axis_ >= type.rank())
      fail<GraphError>(name(), ": expected a variable of a floating dtype with that axis, got ",
                       type);
    return Ref<Apply>(softmax_node(inputs[0], axis_, /*is_logarithm=*/true).owner());
  }
  std::unique_ptr<Thunk> make_thunk(const ThunkContext&) const override {
    fail<GraphError>(name(), ": its nodes have another op");
  }

 private:
  int axis_;
};

[[maybe_unused]] const bool log_softmax_registered =
    register_op_with<LogSoftmaxOp, std::int64_t>("log_softmax", "axis");

// The one axis that `reduction`, a node that keeps the axes, reduces; -1 for others.
int only_axis(const Apply* reduction) {
  if (reduction == nullptr) return -1;
  const auto recipe = reduction->op().recipe();
  const auto keeps = recipe->properties.find("keepdims");
  if (keeps == recipe->properties.end() || !std::get<bool>(keeps->second)) return -1;
  const auto axis = recipe->properties.find("axis");
  if (axis == recipe->properties.end()) return reduction->inputs()[0].type().rank() == 1 ? 0 : -1;
  const auto& axes = std::get<std::vector<std::int64_t>>(axis->second);
  return axes.size() == 1 ? static_cast<int>(axes[0]) : -1;
}

/// Finds the nodes of exp(x - max(x)) / sum(exp(x - max(x))), or of (x - max(x)) - log(sum(exp(x -
/// max(x)))), before `last`. Values that other nodes read have to stay.
class SoftmaxFinder {
 public:
  SoftmaxFinder(const Apply& last, const NodeSurroundings& around) : last_(last), around_(around) {}

  std::vector<Variable> find() {
    const Variable result = last_.output(0);
    const bool is_quotient = node_of(result, "divide") != nullptr;
    if (!is_quotient && node_of(result, "subtract") == nullptr) return {};
    const Variable first = last_.inputs()[0];
    Variable sum_variable = last_.inputs()[1];
    const Apply* logarithm = is_quotient ? nullptr : node_of(sum_variable, "log");
    if (!is_quotient) {
      if (logarithm == nullptr || !is_inner(sum_variable, 1)) return {};
      sum_variable = logarithm->inputs()[0];
    }
    const Apply* sum = node_of(sum_variable, "sum");
    const int axis = only_axis(sum);
    if (axis < 0 || !is_inner(sum_variable, 1)) return {};
    const Variable power = sum->inputs()[0];
    const Apply* exponential = node_of(power, "exp");
    if (exponential == nullptr || !is_inner(power, is_quotient ? 2 : 1)) return {};
    const Variable shifted = exponential->inputs()[0];
    if ((is_quotient ? power : shifted) != first || !is_inner(shifted, is_quotient ? 1 : 2))
      return {};
    const Apply* difference = node_of(shifted, "subtract");
    if (difference == nullptr) return {};
    const Variable x = difference->inputs()[0], highest = difference->inputs()[1];
    const Apply* maximum = node_of(highest, "max");
    if (only_axis(maximum) != axis || maximum->inputs()[0] != x || !is_inner(highest, 1)) return {};
    const DType dtype = result.type().dtype();
    if (!dtype.is_floating() || x.type().dtype() != dtype || sum_variable.type().dtype() != dtype)
      return {};
    FusedNodes nodes{{}, {x}, {result}};
    for (const Variable& value : {highest, shifted, power, sum_variable})
      nodes.nodes.emplace_back(value.owner());
    if (logarithm != nullptr) nodes.nodes.emplace_back(logarithm->output(0).owner());
    nodes.nodes.emplace_back(result.owner());
    const Ref<const Op> op = make_ref<const SoftmaxOp>(std::make_shared<const SoftmaxNodes>(
        SoftmaxNodes{axis, logarithm != nullptr, std::move(nodes)}));
    return (*op)(std::vector{x});
  }

 private:
  // Whether only `readers` nodes read the value.
  bool is_inner(const Variable& value, std::size_t readers) const {
    return around_.readers(value).size() == readers;
  }

  const Apply& last_;
  const NodeSurroundings& around_;
};

[[maybe_unused]] const bool softmax_registered =
    register_node_rewrite({.name = "softmax",
                           .position = 50,
                           .tags = {"fast_run"},
                           .apply_within = [](const Apply& node, const NodeSurroundings& around) {
                             return SoftmaxFinder(node, around).find();
                           }});

}  // namespace
}  // namespace spanwise::ops
