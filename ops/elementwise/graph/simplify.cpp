// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "elementwise_op.hpp"
#include "spanwise/graph/rewrite.hpp"
#include "spanwise/op_sdk/expression.hpp"

// Removes negations, neutral elements and broadcasts that have no effect. Gradients have many of
// them.
namespace spanwise::ops {
namespace {

using namespace expression;

// A variable with the value -x that costs less than x; null where there is none.
Variable without_minus(const Variable& x) {
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

Variable simple_negative(const Variable& x) {
  if (const Variable positive = without_minus(x)) return positive;
  if (const Apply* difference = node_of(x, "subtract"))
    return difference->inputs()[1] - difference->inputs()[0];
  return {};
}

Variable simple_sum(const Variable& a, const Variable& b) {
  if (const Variable positive = without_minus(b)) return a - positive;
  if (const Variable positive = without_minus(a)) return b - positive;
  if (is_number(a, 0)) return b;
  return is_number(b, 0) ? a : Variable();
}

Variable simple_difference(const Variable& a, const Variable& b) {
  if (const Variable positive = without_minus(b)) return a + positive;
  return is_number(b, 0) ? a : Variable();
}

// -a * -b; a constant takes the sign of the other operand.
Variable simple_product(const char* name, const Variable& a, const Variable& b) {
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

Variable simple_multiply(const Variable& a, const Variable& b) {
  if (is_number(a, 1)) return b;
  return is_number(b, 1) ? a : simple_product("multiply", a, b);
}

Variable simple_divide(const Variable& a, const Variable& b) {
  return is_number(b, 1) ? a : simple_product("divide", a, b);
}

// Whether the shape of `operand` alone is the shape of the result of `node`.
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

Variable simple(const Apply& node) {
  if (!is_elementwise(node.op())) return {};
  if (const Variable by = without_broadcast(node)) return by;
  if (const Variable by = before_broadcast(node)) return by;
  const std::string& name = node.op().recipe()->name;
  const auto inputs = node.inputs();
  if (name == "negative") return simple_negative(inputs[0]);
  if (name == "add") return simple_sum(inputs[0], inputs[1]);
  if (name == "subtract") return simple_difference(inputs[0], inputs[1]);
  if (name == "multiply") return simple_multiply(inputs[0], inputs[1]);
  if (name == "divide") return simple_divide(inputs[0], inputs[1]);
  return {};
}

// Only for floating dtypes: unsigned integers and bool have no negative numbers, and the dtype of a
// constant may have decided the dtype of the result.
std::vector<Variable> simplify(const Apply& node) {
  const DType dtype = node.output_count() == 1 ? node.output(0).type().dtype() : int64;
  if (!dtype.is_floating()) return {};
  const Variable by = simple(node);
  if (!by || by.type().dtype() != dtype || by.type().rank() != node.output(0).type().rank())
    return {};
  return {by};
}

[[maybe_unused]] const bool simplify_registered = register_node_rewrite(
    {.name = "simplify", .position = 8, .tags = {"fast_run"}, .apply = simplify});

}  // namespace
}  // namespace spanwise::ops
