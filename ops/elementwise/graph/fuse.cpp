// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "elementwise_op.hpp"
#include "fused_op.hpp"
#include "spanwise/graph/rewrite.hpp"

// Makes one program of connected elementwise operations and casts: their arrays go through memory
// once, and a GPU runs one kernel.
namespace spanwise::ops {
namespace {

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

}  // namespace

Ref<const Op> fuse_nodes(const FusedNodes& nodes) {
  return fuse(nodes.nodes, nodes.inputs, nodes.outputs);
}

OpAndInputs fuse_alone(const Ref<Apply>& node) {
  if (node->output_count() != 1 || is_identity(*node) || !accepts(*node)) return {};
  FusedNodes alone{{node}, {}, {node->output(0)}};
  for (const Variable& input : node->inputs())
    if (std::find(alone.inputs.begin(), alone.inputs.end(), input) == alone.inputs.end())
      alone.inputs.push_back(input);
  return {fuse_nodes(alone), alone.inputs};
}

}  // namespace spanwise::ops
