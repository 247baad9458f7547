// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "elementwise_op.hpp"
#include "fused_op.hpp"
#include "spanwise/graph/elementwise.hpp"
#include "spanwise/graph/rewrite.hpp"

// Rewrites by which arrays go through memory once.
namespace spanwise::ops {
namespace {

// ---- "fuse": connected elementwise operations and casts become one program, for which a GPU runs
// one kernel

bool has_name(const Apply& node, std::string_view name) {
  const auto recipe = node.op().recipe();
  return recipe != nullptr && recipe->name == name;
}

// Casts for which loops and GPU kernels give the same numbers as copies do.
bool is_exact_cast(DType from, DType to) {
  if (from.is_bool()) return true;
  if (to.is_bool() || from.is_complex()) return false;
  return to.is_floating() || (from.is_integer() && to.is_integer());
}

bool is_open(const TensorType& type, int axis) { return type.shape()[axis] == TensorType::any; }

// sum_to(x, like) is x unless an extent of `like` that its type leaves open is 1.
bool is_sum_to_equal_shape(const Apply& node) {
  const TensorType &x = node.inputs()[0].type(), &like = node.inputs()[1].type();
  if (x.rank() != like.rank()) return false;
  if (x.device() && like.device() && *x.device() != *like.device()) return false;
  for (int axis = 0; axis < x.rank(); ++axis)
    if (x.shape()[axis] != like.shape()[axis] && !(is_open(x, axis) && is_open(like, axis)))
      return false;
  return true;
}

// The element of broadcast_to(x, shape) is that of x. The program compares the shape when it runs,
// see RequiredExtent.
bool is_broadcast_to_known_extents(const Apply& node) {
  for (int axis = 0; axis < node.output(0).type().rank(); ++axis) {
    const bool is_value = !node.op().extent_sources(node, 0, axis).empty();
    if (!is_value && is_open(node.output(0).type(), axis)) return false;
  }
  return are_on_host(node, 1);
}

// Nodes whose result is input 0, element by element.
bool is_identity(const Apply& node) {
  if (has_name(node, "sum_to")) return is_sum_to_equal_shape(node);
  return has_name(node, "broadcast_to") && is_broadcast_to_known_extents(node);
}

std::shared_ptr<const ElementBody> body_of(const Apply& node) {
  const auto* op = dynamic_cast<const HasElementBody*>(&node.op());
  std::shared_ptr<const ElementBody> body = op != nullptr ? op->element_body(node) : nullptr;
  if (body == nullptr || !fits_program(*body)) return nullptr;
  const auto has_type = [](const Variable& variable, const ElementBody::Value& value) {
    return variable.type().dtype() == value.dtype;
  };
  const auto inputs = node.inputs();
  const std::vector<Variable> outputs = node.outputs();
  const bool fits = std::equal(inputs.begin(), inputs.end(), body->inputs.begin(),
                               body->inputs.end(), has_type) &&
                    std::equal(outputs.begin(), outputs.end(), body->outputs.begin(),
                               body->outputs.end(), has_type);
  return fits ? body : nullptr;
}

bool accepts(const Apply& node) {
  if (body_of(node) != nullptr) return true;
  const DType result = node.output(0).type().dtype();
  if (has_name(node, "cast")) return is_exact_cast(node.inputs()[0].type().dtype(), result);
  if (is_identity(node)) return result.is_floating() || result.is_complex();
  const std::optional<OpId> op = elementwise_id(node.op());
  // Powers of integers check their exponents, which a program cannot do.
  return op && !(*op == OpId::power && signature_of(*op, node.inputs()).compute.is_integer());
}

/// Turns nodes into a program.
class ProgramBuilder {
 public:
  void add_input(const Variable& input) {
    values_.emplace(input, static_cast<int>(program.inputs.size()));
    program.inputs.push_back(input.type().dtype());
  }

  void add(const Apply& node) {
    if (has_name(node, "broadcast_to")) require_extents(node);
    if (is_identity(node)) {
      values_.emplace(node.output(0), value(node.inputs()[0]));
      return;
    }
    ProgramStep step;
    if (auto body = body_of(node)) {
      step.signature = body_signature(body->outputs[0].dtype);
      step.body = {std::move(body), 0};
    } else if (const auto op = elementwise_id(node.op())) {
      step.signature = signature_of(*op, node.inputs());
    } else {
      step.signature =
          cast_signature(node.inputs()[0].type().dtype(), node.output(0).type().dtype());
    }
    for (std::size_t i = 0; i < node.inputs().size(); ++i)
      step.arguments[i] = value(node.inputs()[i]);
    if (!step.body && std::exchange(step.signature.swapped, false))
      std::swap(step.arguments[0], step.arguments[1]);
    values_.emplace(node.output(0), add_step(step));
  }

  void add_output(const Variable& output) {
    int result = value(output);
    auto& outputs = program.outputs;
    // An identity has the value of another variable.
    if (result < static_cast<int>(program.inputs.size()) ||
        std::find(outputs.begin(), outputs.end(), result) != outputs.end())
      result = add_step({resolve(OpId::positive, std::array{program.dtype(result)}), {result}});
    outputs.push_back(result);
  }

  ElementProgram program;
  std::vector<RequiredExtent> required;

 private:
  int value(const Variable& variable) const { return values_.at(variable); }
  int add_step(const ProgramStep& step) {
    program.steps.push_back(step);
    return program.value_count() - 1;
  }

  void require_extents(const Apply& broadcast) {
    const Shape& shape = broadcast.output(0).type().shape();
    for (int axis = 0; axis < shape.size(); ++axis) {
      const auto sources = broadcast.op().extent_sources(broadcast, 0, axis);
      RequiredExtent extent{axis, -1, shape[axis]};
      if (!sources.empty())
        extent.input = value(broadcast.inputs()[static_cast<std::size_t>(sources[0].input)]);
      if (std::find(required.begin(), required.end(), extent) == required.end())
        required.push_back(extent);
    }
  }

  std::unordered_map<Variable, int> values_;
};

Ref<const Op> fuse(std::span<const Ref<Apply>> nodes, std::span<const Variable> inputs,
                   std::span<const Variable> outputs) {
  ProgramBuilder builder;
  for (const Variable& input : inputs) builder.add_input(input);
  for (const Ref<Apply>& node : nodes) builder.add(*node);
  for (const Variable& output : outputs) builder.add_output(output);
  return fused_op(std::move(builder.program), std::move(builder.required),
                  {{nodes.begin(), nodes.end()},
                   {inputs.begin(), inputs.end()},
                   {outputs.begin(), outputs.end()}});
}

[[maybe_unused]] const bool fuse_registered =
    register_fusion_rewrite({.name = "fuse",
                             .position = 60,
                             .tags = {"fast_run", "fusion"},
                             .accepts = accepts,
                             .max_inputs = max_program_inputs,
                             .max_outputs = max_program_outputs,
                             .fuse = fuse});

Ref<const Op> fuse_nodes(const FusedNodes& nodes) {
  return fuse(nodes.nodes, nodes.inputs, nodes.outputs);
}

/// An op and the variables to apply it to.
struct OpAndInputs {
  Ref<const Op> op;
  std::vector<Variable> inputs;  ///< each once
};

// A fused op of `node` alone; a null op if "fuse" does not take the node, or its result is an
// input.
OpAndInputs fuse_alone(const Ref<Apply>& node) {
  if (node->output_count() != 1 || is_identity(*node) || !accepts(*node)) return {};
  FusedNodes alone{{node}, {}, {node->output(0)}};
  for (const Variable& input : node->inputs())
    if (std::find(alone.inputs.begin(), alone.inputs.end(), input) == alone.inputs.end())
      alone.inputs.push_back(input);
  return {fuse_nodes(alone), alone.inputs};
}

// ---- "split_for_transform_reduce": a result of a program that only a reduction reads becomes a
// separate program, which the reduction then computes while it reads the inputs

// Reading two arrays again costs no more than writing the result and reading it.
constexpr int max_arrays_read_again = 2;
// So few operations take less time than the access to memory.
constexpr std::size_t max_operations_done_again = 8;

bool is_only_reduced(const Apply& node, int output, const NodeSurroundings& around) {
  const auto readers = around.readers(node.output(output));
  if (readers.size() != 1 || readers[0] == nullptr) return false;
  const auto* consumer = dynamic_cast<const ElementConsumer*>(&readers[0]->op());
  return consumer != nullptr && consumer->fused_with(node.op_ref(), *readers[0]);
}

// The nodes and inputs that some outputs need.
FusedNodes part_of(const FusedNodes& all, const std::vector<int>& outputs) {
  FusedNodes part;
  std::unordered_set<Variable> needed;
  for (const int k : outputs) {
    part.outputs.push_back(all.outputs[static_cast<std::size_t>(k)]);
    needed.insert(part.outputs.back());
  }
  for (auto node = all.nodes.rbegin(); node != all.nodes.rend(); ++node) {
    if (!needed.contains((*node)->output(0))) continue;
    part.nodes.push_back(*node);
    needed.insert((*node)->inputs().begin(), (*node)->inputs().end());
  }
  std::reverse(part.nodes.begin(), part.nodes.end());
  std::copy_if(all.inputs.begin(), all.inputs.end(), std::back_inserter(part.inputs),
               [&](const Variable& input) { return needed.contains(input); });
  return part;
}

std::size_t common_nodes(const FusedNodes& a, const FusedNodes& b) {
  return static_cast<std::size_t>(
      std::count_if(a.nodes.begin(), a.nodes.end(), [&](const Ref<Apply>& node) {
        return std::find(b.nodes.begin(), b.nodes.end(), node) != b.nodes.end();
      }));
}

bool is_cheap(const FusedNodes& part, const FusedNodes& rest) {
  const auto arrays = std::count_if(part.inputs.begin(), part.inputs.end(),
                                    [](const Variable& x) { return x.type().rank() > 0; });
  return arrays <= max_arrays_read_again && common_nodes(part, rest) <= max_operations_done_again;
}

std::vector<int> all_but(std::size_t count, int k) {
  std::vector<int> others;
  for (int i = 0; i < static_cast<int>(count); ++i)
    if (i != k) others.push_back(i);
  return others;
}

// Applies the part's program to the inputs of `node`, and puts its results into `results`.
void compute_alone(const Apply& node, const FusedNodes& all, const std::vector<int>& outputs,
                   std::vector<Variable>& results) {
  const FusedNodes part = part_of(all, outputs);
  std::vector<Variable> inputs, replacements;
  for (const Variable& input : part.inputs) {
    const auto input_position = std::find(all.inputs.begin(), all.inputs.end(), input);
    inputs.push_back(node.inputs()[static_cast<std::size_t>(input_position - all.inputs.begin())]);
  }
  for (const int k : outputs) {
    const Variable old = node.output(k);
    replacements.emplace_back(old.type(), old.name());
    results[static_cast<std::size_t>(k)] = replacements.back();
  }
  Apply::make(fuse_nodes(part), std::move(inputs), std::move(replacements));
}

std::vector<Variable> split(const Apply& node, const NodeSurroundings& around) {
  const Fused* fused = fused_of(node.op());
  if (fused == nullptr || node.output_count() < 2) return {};
  const FusedNodes& all = fused->nodes;
  std::vector<int> reduced, others;
  for (int k = 0; k < node.output_count(); ++k) {
    const bool is_separated =
        is_only_reduced(node, k, around) &&
        is_cheap(part_of(all, {k}), part_of(all, all_but(all.outputs.size(), k)));
    (is_separated ? reduced : others).push_back(k);
  }
  if (reduced.empty()) return {};
  std::vector<Variable> results(all.outputs.size());
  for (const int k : reduced) compute_alone(node, all, {k}, results);
  if (!others.empty()) compute_alone(node, all, others, results);
  return results;
}

[[maybe_unused]] const bool split_registered =
    register_node_rewrite({.name = "split_for_transform_reduce",
                           .position = 64,
                           .tags = {"fast_run", "fusion", "transform_reduce"},
                           .apply_within = split});

// ---- "transform_reduce": a reduction computes the elements that only it reads, which are not
// written to memory; a result that other nodes read as well is still computed before

// The op that produces the elements of the result of `node`, and its inputs; a null op if there is
// none.
OpAndInputs elements_of_node(const Ref<Apply>& node) {
  const auto* producer = dynamic_cast<const ElementProducer*>(&node->op());
  if (producer == nullptr) return fuse_alone(node);
  if (!producer->has_element_source()) return {};
  return {node->op_ref(), {node->inputs().begin(), node->inputs().end()}};
}

std::vector<Variable> transform_reduce(const Apply& node, const NodeSurroundings& around) {
  const auto* consumer = dynamic_cast<const ElementConsumer*>(&node.op());
  if (consumer == nullptr) return {};
  const Variable x = node.inputs()[0], result = node.output(0);
  const Ref<Apply> owner(x.owner());
  if (!owner || x.type().rank() == 0 || x.type().device() != result.type().device()) return {};
  const auto readers = around.readers(x);
  if (readers.size() != 1 || readers[0] == nullptr) return {};
  OpAndInputs elements = elements_of_node(owner);
  if (!elements.op) return {};
  const auto* producer = dynamic_cast<const ElementProducer*>(elements.op.get());
  if (!producer->has_element_source()) return {};
  const Ref<const Op> op = consumer->fused_with(std::move(elements.op), node);
  if (!op) return {};
  const Variable reduced(result.type(), result.name());
  Apply::make(op, std::move(elements.inputs), {reduced});
  return {reduced};
}

[[maybe_unused]] const bool transform_reduce_registered =
    register_node_rewrite({.name = "transform_reduce",
                           .position = 65,
                           .tags = {"fast_run", "fusion"},
                           .apply_within = transform_reduce});

}  // namespace
}  // namespace spanwise::ops
