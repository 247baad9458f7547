// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "../graph/elementwise_op.hpp"
#include "../graph/fused_op.hpp"
#include "row_pass.hpp"
#include "spanwise/core/device.hpp"
#include "spanwise/graph/op.hpp"
#include "spanwise/graph/rewrite.hpp"
#include "spanwise/op_sdk.hpp"
#include "spanwise/op_sdk/expression.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/runtime/queued_work.hpp"

namespace spanwise::ops {

const Array& cached_array(std::optional<Array>& cached, const Shape& shape, DType dtype,
                          Device device) {
  if (!cached || cached->shape() != shape || runtime::is_recording()) {
    cached.reset();
    cached.emplace(empty(shape, dtype, device));
  }
  return *cached;
}

RowPassRunner::RowPassRunner(const RowPass& pass, std::span<const int> ranks, Device device)
    : pass_(pass), device_(device) {
  if (!runs_on_host(device))
    cuda_pass_.emplace(pass, device);
  else
    cpu_pass_.emplace(pass, ranks);
}

bool RowPassRunner::accepts(std::span<const Array* const> inputs) const {
  const Array& x = *inputs[0];
  const std::int64_t rows = x.shape()[0], columns = x.shape()[1];
  if (x.size() == 0) return false;
  if (columns > (cpu_pass_ ? CpuRowPass::max_columns : CudaRowPass::max_columns)) return false;
  if (columns > 1 && x.strides()[1] != 1) return false;
  if (inputs[1]->shape()[0] != columns) return false;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Array& input = *inputs[i];
    const bool is_usable = input.device() == device_ || is_host_number(input);
    if (!is_usable || input.rank() > (i == 0 ? 2 : 1)) return false;
  }
  for (std::size_t i = 2; i < pass_.addend_position(); ++i)
    if (inputs[i]->size() != 1 && inputs[i]->shape()[0] != rows) return false;
  if (!has_required_rows(inputs) || (cpu_pass_ && !cpu_pass_->accepts(inputs))) return false;
  if (!pass_.has_addend) return true;
  const Array& addend = *inputs[pass_.addend_position()];
  return addend.device() == device_ && (addend.size() == 1 || addend.shape()[0] == columns);
}

bool RowPassRunner::has_required_rows(std::span<const Array* const> inputs) const {
  for (const RowPass::RequiredRows& required : pass_.required) {
    std::int64_t rows = required.fixed;
    if (required.position >= 0) {
      const Array& number = *inputs[static_cast<std::size_t>(required.position)];
      if (!is_host_number(number)) return false;  // a read from a GPU would wait for it
      rows = item(number).as_int64();
    }
    if (rows != inputs[0]->shape()[0]) return false;
  }
  return true;
}

void RowPassRunner::run(std::span<const Array* const> inputs, std::span<const Array> outputs) {
  cuda_pass_ ? cuda_pass_->run(inputs, outputs) : cpu_pass_->run(inputs, outputs);
}

namespace {

using namespace expression;

// ---- the op

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

/// A row pass as an op of graphs, which replaces nodes whose inputs and outputs are those of the
/// pass. Where RowPassRunner does not accept the inputs, the nodes are run one by one.
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

// The pass of a RowPassOp; null for other ops.
const RowPass* row_pass_of(const Op& op) {
  const auto* row_pass = dynamic_cast<const RowPassOp*>(&op);
  return row_pass == nullptr ? nullptr : &row_pass->pass();
}

// ---- the rewrite: a product of a matrix and a vector, the program that reads it, and the product
// of the transposed matrix with a result of the program become one node, which reads the matrix
// once. The sum of that result and a program of the sum take part. The order of additions is that
// of the kernels, as in the products alone.

bool is_leaf(const Variable& x) { return x.owner() == nullptr; }

bool is_on_device(const Variable& x, Device device) {
  return !x.type().device() || *x.type().device() == device;
}

// Whether `x` is the view matrix.T.
bool is_transposed(const Variable& x, const Variable& matrix) {
  const Apply* node = node_of(x, "dimshuffle");
  if (node == nullptr || node->inputs()[0] != matrix) return false;
  const auto recipe = node->op().recipe();
  const auto order = recipe->properties.find("order");
  return order != recipe->properties.end() &&
         order->second == OpProperty(std::vector<std::int64_t>{1, 0});
}

double factor_of(const Apply& affine, const char* name) {
  const auto recipe = affine.op().recipe();
  const auto property = recipe->properties.find(name);
  return property == recipe->properties.end() ? 1 : std::get<double>(property->second);
}

// The program of a node that runs it in all calls; null for other nodes.
const ElementProgram* program_alone(const Apply& node) {
  const Fused* fused = fused_of(node.op());
  return fused != nullptr && fused->required.empty() ? &fused->program : nullptr;
}

/// The node matrix.T @ weights, with its factors and its addend.
struct ColumnsProduct {
  const Apply* node = nullptr;
  double alpha = 1, beta = 0;
  Variable addend;  ///< null without one
};

std::optional<ColumnsProduct> as_columns_product(const Apply& node, const Variable& matrix,
                                                 const Variable& weights) {
  const Variable output = node.output(0);
  const bool is_affine = node_of(output, "affine") != nullptr;
  if (!is_affine && node_of(output, "matmul") == nullptr) return {};
  const auto inputs = node.inputs();
  if (!is_transposed(inputs[0], matrix) || inputs[1] != weights) return {};
  ColumnsProduct product{&node, 1, 0, {}};
  if (!is_affine) return product;
  product.alpha = factor_of(node, "alpha");
  if (inputs.size() < 3) return product;
  product.beta = factor_of(node, "beta");
  product.addend = inputs[2];
  const TensorType& type = product.addend.type();
  if (!is_leaf(product.addend) || type.rank() != 1 || type.dtype() != output.type().dtype())
    return {};
  return product;
}

// Whether the node is the sum of all elements of `x`, in its dtype.
bool is_whole_sum(const Apply& node, const Variable& x) {
  const Variable output = node.output(0);
  return node_of(output, "sum") != nullptr && node.inputs()[0] == x && output.type().rank() == 0 &&
         output.type().dtype() == x.type().dtype();
}

/// Finds the nodes of a pass around the node of its program.
class PassFinder {
 public:
  PassFinder(const Apply& node, const NodeSurroundings& around) : node_(node), around_(around) {}

  /// The outputs of the program, by a new node; empty where there is no pass.
  std::vector<Variable> find() {
    fused_ = fused_of(node_.op());
    if (fused_ == nullptr || node_.output(0).type().rank() != 1) return {};
    if (!try_find_product() || !inputs_fit() || !try_find_columns()) return {};
    find_sum();
    find_required();
    return replacement_outputs();
  }

 private:
  bool try_find_product() {
    const auto inputs = node_.inputs();
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const Apply* product = node_of(inputs[i], "matmul");
      if (product == nullptr || around_.readers(inputs[i]).size() != 1) continue;
      const Variable &x = product->inputs()[0], &w = product->inputs()[1];
      const DType dtype = x.type().dtype();
      if (x.type().rank() != 2 || w.type().rank() != 1 || w.type().dtype() != dtype) continue;
      if (dtype != float32 && dtype != float64) continue;
      product_ = product;
      pass_.product_input = static_cast<int>(i);
      return true;
    }
    return false;
  }

  bool inputs_fit() const {
    for (const Variable& input : node_.inputs())
      if (!is_on_device(input, around_.device()) && input.type().rank() != 0) return false;
    return is_on_device(product_->inputs()[0], around_.device()) &&
           is_on_device(product_->inputs()[1], around_.device());
  }

  bool try_find_columns() {
    for (int k = 0; k < node_.output_count(); ++k)
      for (const Apply* reader : around_.readers(node_.output(k))) {
        if (reader == nullptr) continue;
        // Readers are nodes as they were before this rewrite, which may have replaced node_.
        for (const Variable& weights : reader->inputs()) {
          if (!is_output(weights, k)) continue;
          const auto product = as_columns_product(*reader, matrix_of(*reader), weights);
          if (!product || matrix_of(*reader) != product_->inputs()[0]) continue;
          columns_ = *product;
          weights_ = weights;
          pass_.weights_output = k;
          return true;
        }
      }
    return false;
  }

  // Whether `variable`, of the graph before the rewrite, is output k of the program's node.
  bool is_output(const Variable& variable, int k) const {
    const Apply* owner = variable.owner();
    return owner != nullptr && &owner->op() == &node_.op() && variable.index() == k;
  }

  // The matrix whose transposed view the product reads.
  static Variable matrix_of(const Apply& product) {
    const Apply* view = node_of(product.inputs()[0], "dimshuffle");
    return view == nullptr ? Variable() : view->inputs()[0];
  }

  void find_sum() {
    for (const Apply* reader : around_.readers(node_.output(pass_.weights_output))) {
      if (reader == nullptr || !is_whole_sum(*reader, weights_)) continue;
      sum_ = reader;
      pass_.has_sum = true;
      const auto sum_readers = around_.readers(reader->output(0));
      if (sum_readers.size() == 1 && sum_readers[0] != nullptr &&
          try_use_sum_program(*sum_readers[0]))
        sum_program_node_ = sum_readers[0];
      return;
    }
  }

  void find_required() {
    for (const RequiredExtent& extent : fused_->required) {
      RowPass::RequiredRows rows{-1, extent.fixed};
      // The inputs of the pass are x, w, and those of the program except the product.
      if (extent.input >= 0)
        rows.position = extent.input + (extent.input < pass_.product_input ? 2 : 1);
      pass_.required.push_back(rows);
    }
  }

  // Makes the node's program sum_program, if it reads the sum and numbers that are inputs of the
  // graph.
  bool try_use_sum_program(const Apply& node) {
    const ElementProgram* program = program_alone(node);
    if (program == nullptr || node.output(0).type().rank() != 0) return false;
    const auto inputs = node.inputs();
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i] == sum_->output(0))
        pass_.sum_input = static_cast<int>(i);
      else if (!is_leaf(inputs[i]) || inputs[i].type().rank() != 0)
        return false;
    }
    pass_.sum_program = *program;
    return true;
  }

  std::vector<Variable> replacement_outputs() {
    pass_.program = fused_->program;
    pass_.alpha = columns_.alpha;
    pass_.beta = columns_.beta;
    pass_.has_addend = static_cast<bool>(columns_.addend);
    FusedNodes nodes{{}, {product_->inputs()[0], product_->inputs()[1]}, node_.outputs()};
    nodes.nodes.emplace_back(node_.inputs()[static_cast<std::size_t>(pass_.product_input)].owner());
    nodes.nodes.emplace_back(node_.output(0).owner());
    for (std::size_t i = 0; i < node_.inputs().size(); ++i)
      if (static_cast<int>(i) != pass_.product_input) nodes.inputs.push_back(node_.inputs()[i]);
    if (columns_.addend) nodes.inputs.push_back(columns_.addend);
    if (sum_program_node_ != nullptr)
      for (std::size_t i = 0; i < sum_program_node_->inputs().size(); ++i)
        if (static_cast<int>(i) != pass_.sum_input)
          nodes.inputs.push_back(sum_program_node_->inputs()[i]);
    add_readers(nodes);
    const std::vector<Variable> inputs = nodes.inputs;
    const Ref<const Op> op = make_ref<const RowPassOp>(
        std::make_shared<const PassAndNodes>(PassAndNodes{std::move(pass_), std::move(nodes)}));
    std::vector<Variable> outputs = (*op)(inputs);
    outputs.resize(static_cast<std::size_t>(node_.output_count()));
    return outputs;
  }

  // Adds copies of the nodes behind the program, which read its present outputs.
  void add_readers(FusedNodes& nodes) const {
    const Variable weights = node_.output(pass_.weights_output);
    const Variable view = matrix_transpose(product_->inputs()[0]);
    nodes.nodes.emplace_back(view.owner());
    std::vector<Variable> factors{view, weights};
    if (columns_.addend) factors.push_back(columns_.addend);
    const Variable columns = columns_.node->op()(factors)[0];
    nodes.nodes.emplace_back(columns.owner());
    nodes.outputs.push_back(columns);
    if (sum_ == nullptr) return;
    const Variable sum = sum_->op()(std::vector{weights})[0];
    nodes.nodes.emplace_back(sum.owner());
    nodes.outputs.push_back(sum);
    if (sum_program_node_ == nullptr) return;
    std::vector<Variable> numbers(sum_program_node_->inputs().begin(),
                                  sum_program_node_->inputs().end());
    numbers[static_cast<std::size_t>(pass_.sum_input)] = sum;
    const std::vector<Variable> results = sum_program_node_->op()(numbers);
    nodes.nodes.emplace_back(results[0].owner());
    nodes.outputs.insert(nodes.outputs.end(), results.begin(), results.end());
  }

  const Apply& node_;
  const NodeSurroundings& around_;
  const Fused* fused_ = nullptr;
  const Apply *product_ = nullptr, *sum_ = nullptr, *sum_program_node_ = nullptr;
  ColumnsProduct columns_;
  Variable weights_;  ///< as columns_.node reads it
  RowPass pass_;
};

// The outputs of a pass that replace those of `node`, which reads the pass and is one of the nodes
// that the pass computes. Empty for other nodes.
std::vector<Variable> outputs_of_pass(const Apply& node) {
  for (const Variable& input : node.inputs()) {
    const Apply* owner = input.owner();
    const RowPass* pass = owner == nullptr ? nullptr : row_pass_of(owner->op());
    if (pass == nullptr) continue;
    const auto output = [&](std::size_t i) { return owner->output(static_cast<int>(i)); };
    const std::size_t columns = pass->columns_position();
    if (input.index() == pass->weights_output) {
      const auto product = as_columns_product(node, owner->inputs()[0], input);
      const Variable addend =
          pass->has_addend ? owner->inputs()[pass->addend_position()] : Variable();
      if (product && product->alpha == pass->alpha && product->beta == pass->beta &&
          product->addend == addend)
        return {output(columns)};
      if (pass->has_sum && is_whole_sum(node, input)) return {output(columns + 1)};
    }
    const ElementProgram* program = program_alone(node);
    if (!pass->sum_program || program == nullptr || !(*program == *pass->sum_program)) continue;
    std::vector<Variable> numbers(
        owner->inputs().begin() + static_cast<std::ptrdiff_t>(pass->sum_program_position()),
        owner->inputs().end());
    numbers.insert(numbers.begin() + pass->sum_input, output(columns + 1));
    if (!std::equal(numbers.begin(), numbers.end(), node.inputs().begin(), node.inputs().end()))
      continue;
    std::vector<Variable> results;
    for (std::size_t i = columns + 2; i < pass->outputs(); ++i) results.push_back(output(i));
    return results;
  }
  return {};
}

std::vector<Variable> find_row_pass(const Apply& node, const NodeSurroundings& around) {
  std::vector<Variable> outputs = outputs_of_pass(node);
  return outputs.empty() ? PassFinder(node, around).find() : outputs;
}

[[maybe_unused]] const bool row_pass_registered = register_node_rewrite(
    {.name = "row_pass", .position = 70, .tags = {"fast_run"}, .apply_within = find_row_pass});

}  // namespace
}  // namespace spanwise::ops
