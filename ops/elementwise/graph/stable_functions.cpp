// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/graph/rewrite.hpp"
#include "spanwise/op_sdk/expression.hpp"

// Replaces expressions that overflow or cancel by functions that do not. Theano has the same
// rewrites for sigmoid and softplus (theano/tensor/nnet/sigm.py), log1p and expm1
// (theano/tensor/opt.py).
namespace spanwise::ops {
namespace {

using namespace expression;

// x of name(x); null for other variables.
Variable argument(const Variable& variable, const char* name) {
  const Apply* node = node_of(variable, name);
  return node == nullptr ? Variable() : node->inputs()[0];
}

// The other term of 1 + x or x + 1.
Variable one_plus(const Variable& sum) {
  const Apply* node = node_of(sum, "add");
  if (node == nullptr) return {};
  if (is_number(node->inputs()[0], 1)) return node->inputs()[1];
  return is_number(node->inputs()[1], 1) ? node->inputs()[0] : Variable();
}

// x of 1 - x.
Variable one_minus(const Variable& difference) {
  const Apply* node = node_of(difference, "subtract");
  return node != nullptr && is_number(node->inputs()[0], 1) ? node->inputs()[1] : Variable();
}

Variable negative(const Variable& x) {
  const Variable inner = argument(x, "negative");
  return inner ? inner : -x;
}

// log(1 / (1 + exp(-x))) and log(1 - 1 / (1 + exp(-x))) are -softplus of -x and x.
Variable stable_log(const Variable& x) {
  if (const Variable y = argument(x, "exp")) return y;
  if (const Variable y = argument(x, "sigmoid")) return -call("softplus", negative(y));
  if (const Variable y = one_plus(x)) {
    const Variable exponent = argument(y, "exp");
    return exponent ? call("softplus", exponent) : call("log1p", y);
  }
  if (const Variable y = one_minus(x)) {
    const Variable inner = argument(y, "sigmoid");
    return inner ? -call("softplus", inner) : call("log1p", negative(y));
  }
  if (const Apply* quotient = node_of(x, "divide"))
    if (const Variable y = argument(quotient->inputs()[0], "exp"))
      return y - call("log", quotient->inputs()[1]);
  return {};
}

Variable stable_log1p(const Variable& x) {
  if (const Variable y = argument(x, "exp")) return call("softplus", y);
  const Variable inner = argument(x, "negative");
  if (!inner) return {};
  const Variable y = argument(inner, "sigmoid");
  return y ? -call("softplus", y) : Variable();
}

// x of 1 + exp(x).
Variable exponent_beside_one(const Variable& sum) {
  const Variable y = one_plus(sum);
  return y ? argument(y, "exp") : Variable();
}

Variable stable_quotient(const Variable& a, const Variable& b) {
  const Variable x = exponent_beside_one(b);
  if (!x) return {};
  if (is_number(a, 1)) return call("sigmoid", negative(x));
  return argument(a, "exp") == x ? call("sigmoid", x) : Variable();
}

Variable stable_reciprocal(const Variable& x) {
  const Variable y = exponent_beside_one(x);
  return y ? call("sigmoid", negative(y)) : Variable();
}

Variable stable_difference(const Variable& a, const Variable& b) {
  if (is_number(b, 1))
    if (const Variable x = argument(a, "exp")) return call("expm1", x);
  if (is_number(a, 1))
    if (const Variable x = argument(b, "exp")) return -call("expm1", x);
  return {};
}

// Powers with a constant exponent, as NumPy's operator ** computes them.
Variable simple_power(const Variable& x, const Variable& exponent) {
  if (is_number(exponent, 1)) return x;
  if (is_number(exponent, 2)) return call("square", x);
  const bool is_floating = x.type().dtype().is_floating();
  if (is_floating && is_number(exponent, 0.5)) return call("sqrt", x);
  return is_floating && is_number(exponent, -1) ? call("reciprocal", x) : Variable();
}

Variable stable_form(const Apply& node) {
  const auto recipe = node.op().recipe();
  if (recipe == nullptr) return {};
  const std::string& name = recipe->name;
  const auto inputs = node.inputs();
  if (name == "negative") return argument(inputs[0], "negative");
  if (name == "log") return stable_log(inputs[0]);
  if (name == "log1p") return stable_log1p(inputs[0]);
  if (name == "reciprocal") return stable_reciprocal(inputs[0]);
  if (name == "divide") return stable_quotient(inputs[0], inputs[1]);
  if (name == "subtract") return stable_difference(inputs[0], inputs[1]);
  if (name == "power") return simple_power(inputs[0], inputs[1]);
  return {};
}

std::vector<Variable> stable_functions(const Apply& node) {
  const Variable replacement = stable_form(node);
  // A constant that is removed may have determined the dtype of the output.
  if (!replacement || replacement.type().dtype() != node.output(0).type().dtype()) return {};
  return {replacement};
}

[[maybe_unused]] const bool stable_functions_registered =
    register_node_rewrite({.name = "stable_functions",
                           .position = 5,
                           .tags = {"fast_run", "stabilize"},
                           .apply = stable_functions});

// Markers for gradients, which have no effect on values.
std::vector<Variable> cut_marker(const Apply& node) {
  for (const char* name : {"consider_constant", "disconnected_grad"})
    if (node_of(node.output(0), name) != nullptr) return {node.inputs()[0]};
  return {};
}

[[maybe_unused]] const bool markers_registered =
    register_node_rewrite({.name = "cut_gradient_markers",
                           .position = 7,
                           .tags = {"fast_run", "fast_compile"},
                           .apply = cut_marker});

}  // namespace
}  // namespace spanwise::ops
