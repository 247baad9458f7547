// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "elementwise_op.hpp"
#include "spanwise/graph/rewrite.hpp"
#include "spanwise/op_sdk/expression.hpp"

// Removes negations, identity elements and broadcasts that have no effect. Gradients have many of
// them.
namespace spanwise::ops {
namespace {

using namespace expression;

// -x, if its graph has one operation less than that of x: x is a negation, or a product or quotient
// with a negated operand. Else null.
Variable cheaper_negative(const Variable& x) {
  if (const Apply* node = node_of(x, "negative")) return node->inputs()[0];
  for (const char* name : {"multiply", "divide"}) {
    const Apply* node = node_of(x, name);
    if (node == nullptr) continue;
    const Variable &a = node->inputs()[0], &b = node->inputs()[1];
    if (const Apply* minus = node_of(a, "negative")) return call(name, minus->inputs()[0], b);
    if (const Apply* minus = node_of(b, "negative")) return call(name, a, minus->inputs()[0]);
  }
  return {};
}

// The functions below return a variable equal to the operation on their arguments that needs fewer
// operations, or null.

Variable simplified_negative(const Variable& x) {
  if (const Variable positive = cheaper_negative(x)) return positive;
  if (const Apply* difference = node_of(x, "subtract"))
    return difference->inputs()[1] - difference->inputs()[0];
  return {};
}

Variable simplified_sum(const Variable& a, const Variable& b) {
  if (const Variable positive = cheaper_negative(b)) return a - positive;
  if (const Variable positive = cheaper_negative(a)) return b - positive;
  if (is_number(a, 0)) return b;
  return is_number(b, 0) ? a : Variable();
}

Variable simplified_difference(const Variable& a, const Variable& b) {
  if (const Variable positive = cheaper_negative(b)) return a + positive;
  return is_number(b, 0) ? a : Variable();
}

// Removes pairs of signs from the product or quotient `name` of a and b: -a * -b is a * b, and
// 2 * -b is -2 * b.
Variable without_signs(const char* name, const Variable& a, const Variable& b) {
  const Apply *minus_a = node_of(a, "negative"), *minus_b = node_of(b, "negative");
  if (minus_a != nullptr && minus_b != nullptr)
    return call(name, minus_a->inputs()[0], minus_b->inputs()[0]);
  const auto number_a = constant_number(a), number_b = constant_number(b);
  if (number_a && minus_b != nullptr)
    return call(name, number_like(-*number_a, a), minus_b->inputs()[0]);
  if (number_b && minus_a != nullptr)
    return call(name, minus_a->inputs()[0], number_like(-*number_b, b));
  return {};
}

Variable simplified_product(const Variable& a, const Variable& b) {
  if (is_number(a, 1)) return b;
  return is_number(b, 1) ? a : without_signs("multiply", a, b);
}

Variable simplified_quotient(const Variable& a, const Variable& b) {
  return is_number(b, 1) ? a : without_signs("divide", a, b);
}

// Whether broadcasting `operand` with `broadcast` gives the shape of `operand`.
bool has_shape_of_result(const Variable& operand, const Variable& broadcast) {
  return operand.type().rank() >= broadcast.type().rank() && have_equal_shapes(operand, broadcast);
}

// f(broadcast_to(v, x.shape), x) is f(v, x).
Variable without_broadcast(const Apply& node) {
  std::vector<Variable> inputs(node.inputs().begin(), node.inputs().end());
  bool changed = false;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Apply* broadcast = node_of(inputs[i], "broadcast_to");
    if (broadcast == nullptr) continue;
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      if (k == i || !has_shape_of_result(inputs[k], inputs[i])) continue;
      inputs[i] = broadcast->inputs()[0];
      changed = true;
      break;
    }
  }
  return changed ? node.op()(inputs)[0] : Variable();
}

// f(broadcast_to(v, shape), number) is broadcast_to(f(v, number), shape).
Variable before_broadcast(const Apply& node) {
  const Apply* broadcast = nullptr;
  std::vector<Variable> inputs(node.inputs().begin(), node.inputs().end());
  for (Variable& input : inputs) {
    if (input.type().rank() == 0) continue;
    const Apply* owner = node_of(input, "broadcast_to");
    if (owner == nullptr || broadcast != nullptr) return {};
    broadcast = owner;
    input = broadcast->inputs()[0];
  }
  if (broadcast == nullptr) return {};
  std::vector<Variable> operands(broadcast->inputs().begin(), broadcast->inputs().end());
  operands[0] = node.op()(inputs)[0];
  return broadcast->op()(operands)[0];
}

Variable simplified(const Apply& node) {
  if (!is_elementwise(node.op())) return {};
  if (const Variable replacement = without_broadcast(node)) return replacement;
  if (const Variable replacement = before_broadcast(node)) return replacement;
  const std::string& name = node.op().recipe()->name;
  const auto inputs = node.inputs();
  if (name == "negative") return simplified_negative(inputs[0]);
  if (name == "add") return simplified_sum(inputs[0], inputs[1]);
  if (name == "subtract") return simplified_difference(inputs[0], inputs[1]);
  if (name == "multiply") return simplified_product(inputs[0], inputs[1]);
  if (name == "divide") return simplified_quotient(inputs[0], inputs[1]);
  return {};
}

// Only for floating dtypes, since unsigned integers and bool have no negative numbers. A
// replacement may have another dtype or rank than the output, if a removed constant determined it;
// then nothing is replaced.
std::vector<Variable> simplify(const Apply& node) {
  if (node.output_count() != 1) return {};
  const auto& type = node.output(0).type();
  if (!type.dtype().is_floating()) return {};
  const Variable replacement = simplified(node);
  if (!replacement || replacement.type().dtype() != type.dtype() ||
      replacement.type().rank() != type.rank())
    return {};
  return {replacement};
}

[[maybe_unused]] const bool simplify_registered = register_node_rewrite(
    {.name = "simplify", .position = 8, .tags = {"fast_run"}, .apply = simplify});

}  // namespace
}  // namespace spanwise::ops
