// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <numbers>
#include <utility>
#include <vector>

#include "elementwise_op.hpp"
#include "spanwise/graph/rewrite.hpp"
#include "spanwise/op_sdk/expression.hpp"

// Rewrites of elementwise operations to others that are more accurate, or fewer.
namespace spanwise::ops {
namespace {

using namespace expression;

// ---- "stable_functions": expressions that overflow or cancel become functions that do not. Theano
// has the same rewrites for sigmoid and softplus (theano/tensor/nnet/sigm.py), log1p and expm1
// (theano/tensor/opt.py).

// How many factors and quotients are looked through, so that a search takes bounded time and stack.
constexpr int max_factors = 16;

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

// Whether `x` is a sum or mean of exp(y), whose logarithm the rewrite "log_sum_exp" replaces.
bool is_sum_of_exp(const Variable& x) {
  const Apply* sum = node_of(x, "sum");
  if (sum == nullptr) sum = node_of(x, "mean");
  return sum != nullptr && argument(sum->inputs()[0], "exp");
}

bool is_positive(const Variable& x) {
  const std::optional<double> number = constant_number(x);
  if (number) return *number > 0;
  const Variable y = one_plus(x);
  return argument(x, "exp") || is_sum_of_exp(moved(x).value) || (y && argument(y, "exp"));
}

Variable log_of_factor(const Variable& x, int max_depth);

// log(a / b) for a positive a; null where log(a) has no better form.
Variable log_of_quotient(const Apply& quotient, int max_depth) {
  const Variable a = log_of_factor(quotient.inputs()[0], max_depth);
  if (!a) return {};
  const Variable b = log_of_factor(quotient.inputs()[1], max_depth);
  return a - (b ? b : call("log", quotient.inputs()[1]));
}

// log(x) without log(), or of a sum of exponentials, for an x that is positive; null for others.
// log(1 / (1 + exp(-x))) and log(1 - 1 / (1 + exp(-x))) are -softplus of -x and x.
Variable log_of_positive(const Variable& x, int max_depth) {
  if (const Variable y = argument(x, "exp")) return y;
  if (const Variable y = argument(x, "sigmoid")) return -call("softplus", negative(y));
  if (const Variable y = one_plus(x))
    if (const Variable exponent = argument(y, "exp")) return call("softplus", exponent);
  if (const Variable y = one_minus(x))
    if (const Variable inner = argument(y, "sigmoid")) return -call("softplus", inner);
  if (const Apply* sum = node_of(x, "add")) {
    const Variable a = argument(sum->inputs()[0], "exp"), b = argument(sum->inputs()[1], "exp");
    if (a && b) return call("logaddexp", a, b);
  }
  if (const Apply* product = node_of(x, "multiply")) {
    for (const std::size_t i : {0, 1}) {
      const Variable &factor = product->inputs()[i], &other = product->inputs()[1 - i];
      if (!constant_number(factor) || !is_positive(factor)) continue;
      const Variable y = log_of_factor(other, max_depth);
      return y ? y + call("log", factor) : Variable();
    }
  }
  const Apply* quotient = node_of(x, "divide");
  if (quotient == nullptr || !is_positive(quotient->inputs()[1])) return {};
  return log_of_quotient(*quotient, max_depth);
}

// As log_of_positive(), also where the elements of `x` are moved, and for a sum of exponentials.
Variable log_of_factor(const Variable& x, int max_depth) {
  if (max_depth == 0) return {};
  const MovedValue found = moved(x);
  const Variable y = is_sum_of_exp(found.value) ? call("log", found.value)
                                                : log_of_positive(found.value, max_depth - 1);
  return y ? found.around(y) : Variable();
}

Variable stable_log(const Variable& x) {
  if (const Variable y = log_of_positive(x, max_factors)) return y;
  if (const Variable y = one_plus(x)) return call("log1p", y);
  if (const Variable y = one_minus(x)) return call("log1p", negative(y));
  const MovedValue found = moved(x);
  // The divisor may be negative here, since the quotient is not a factor of anything.
  if (const Apply* quotient = node_of(found.value, "divide"))
    if (const Variable y = log_of_quotient(*quotient, max_factors)) return found.around(y);
  return found.moves.empty() ? Variable() : log_of_factor(x, max_factors);
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

Variable scaled(const Variable& x, double factor) { return x ? x * factor : Variable(); }

Variable stable_form(const Apply& node) {
  const auto recipe = node.op().recipe();
  if (recipe == nullptr) return {};
  const std::string& name = recipe->name;
  const auto inputs = node.inputs();
  if (name == "negative") {
    const Apply* inner = node_of(inputs[0], "negative");
    return inner == nullptr ? Variable() : inner->inputs()[0];
  }
  if (name == "log") return stable_log(inputs[0]);
  if (name == "log2") return scaled(log_of_factor(inputs[0], max_factors), std::numbers::log2e);
  if (name == "log10") return scaled(log_of_factor(inputs[0], max_factors), std::numbers::log10e);
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
                           .tags = {"fast_run", "fast_compile", "stabilize"},
                           .apply = stable_functions});

// ---- markers for gradients, which have no effect on values

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

// ---- "simplify" removes negations, identity elements and broadcasts that have no effect, of which
// gradients have many

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
