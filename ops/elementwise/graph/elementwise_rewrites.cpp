// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <initializer_list>
#include <numbers>
#include <optional>
#include <span>
#include <string_view>
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

const Apply* sum_or_mean(const Variable& x) {
  const Apply* sum = node_of(x, "sum");
  return sum != nullptr ? sum : node_of(x, "mean");
}

// Whether `x` is a sum or mean of exp(y), whose logarithm the rewrite "log_sum_exp" replaces.
bool is_sum_of_exp(const Variable& x) {
  const Apply* sum = sum_or_mean(x);
  return sum != nullptr && argument(sum->inputs()[0], "exp");
}

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

// The registered name of the op that computes `x` as its first output; empty for others.
std::string_view op_name(const Variable& x) {
  if (x.owner() == nullptr || x.index() != 0) return {};
  const auto recipe = x.owner()->op().recipe();
  return recipe == nullptr ? std::string_view() : recipe->name;
}

/// Finds logarithms that do not overflow where their argument underflows: those of exponentials and
/// sigmoids, of products, powers and sums of these, and of values that consist of their elements
/// (Op::moved_inputs). The logarithm is then computed before the op that moves the elements.
class LogarithmSearch {
 public:
  /// log(x), log(1 + x) or log(1 - x).
  enum class Of { x, one_plus_x, one_minus_x };

  /// The logarithm without its function, for a `log` of `x`; null where there is no such form.
  /// Unless `any_sign`, the argument of the logarithm is positive where a form is found.
  Variable find(Of of, const Variable& x, bool any_sign) {
    if (!x.type().dtype().is_floating() || --visits_ < 0) return {};
    if (const Variable y = direct(of, x, any_sign)) return y;
    return through_moves(of, x, any_sign);
  }

 private:
  Variable direct(Of of, const Variable& x, bool any_sign) {
    const std::string_view name = op_name(x);
    if (name.empty()) return {};
    Variable a = x.owner()->inputs()[0];
    if (of == Of::one_plus_x) {
      if (name == "exp") return call("softplus", a);
      return name == "negative" ? find(Of::one_minus_x, a, any_sign) : Variable();
    }
    if (of == Of::one_minus_x) {
      if (name == "sigmoid") return -call("softplus", a);
      if (name == "negative") return find(Of::one_plus_x, a, any_sign);
      const Variable y = one_minus(x);
      return y ? find(Of::x, y, any_sign) : Variable();
    }
    if (name == "exp") return a;
    // 1 / (1 + exp(-x)) is -softplus(-x)
    if (name == "sigmoid") return -call("softplus", negative(a));
    if (is_one_of(name, {"add", "subtract"})) return of_sum_or_difference(x, any_sign);
    if (is_one_of(name, {"multiply", "divide"}))
      return of_product(*x.owner(), name == "multiply", any_sign);
    if (is_one_of(name, {"sum", "mean", "prod"})) return of_reduction(*x.owner(), name);
    return of_power(*x.owner(), name);
  }

  Variable of_sum_or_difference(const Variable& x, bool any_sign) {
    if (const Variable y = one_plus(x))
      if (const Variable form = find(Of::one_plus_x, y, any_sign)) return form;
    if (const Variable y = one_minus(x)) return find(Of::one_minus_x, y, any_sign);
    if (op_name(x) == "subtract") return {};
    const Variable a = find(Of::x, x.owner()->inputs()[0], false);
    if (!a) return {};
    const Variable b = find(Of::x, x.owner()->inputs()[1], false);
    return b ? call("logaddexp", a, b) : Variable();
  }

  // One operand has a form. The other has a form or is positive, or its sign is that of the result.
  Variable of_product(const Apply& node, bool is_product, bool any_sign) {
    Variable terms[2];
    for (const std::size_t i : {0, 1}) terms[i] = find(Of::x, node.inputs()[i], false);
    if (!terms[0] && !terms[1]) return {};
    for (const std::size_t i : {0, 1}) {
      if (terms[i]) continue;
      const Variable& other = node.inputs()[i];
      if (!any_sign && !is_positive(other)) return {};
      terms[i] = call("log", cast(other, node.output(0).type().dtype()));
    }
    return is_product ? terms[0] + terms[1] : terms[0] - terms[1];
  }

  Variable of_reduction(const Apply& node, std::string_view name) {
    if (is_sum_of_exp(node.output(0))) return call("log", node.output(0));
    const Variable form = find(Of::x, node.inputs()[0], false);
    if (!form) return {};
    if (name == "prod") return apply("sum", {form}, node.op().recipe()->properties);
    return call("log", node.op()(std::vector{call("exp", form)})[0]);
  }

  Variable of_power(const Apply& node, std::string_view name) {
    const bool is_power = is_one_of(name, {"power", "float_power"});
    std::optional<double> exponent;
    if (is_one_of(name, {"absolute", "fabs", "positive"})) exponent = 1;
    if (name == "sqrt") exponent = 0.5;
    if (name == "square") exponent = 2;
    if (name == "reciprocal") exponent = -1;
    if (is_power) exponent = constant_number(node.inputs()[1]);
    if (!exponent || *exponent == 0) return {};
    const Variable form = find(Of::x, node.inputs()[0], false);
    return !form || *exponent == 1 ? form : form * *exponent;
  }

  bool is_positive(const Variable& x) {
    if (--visits_ < 0) return false;
    if (const std::optional<double> number = constant_number(x)) return *number > 0;
    const std::string_view name = op_name(x);
    if (name.empty()) return false;
    if (is_one_of(name, {"exp", "sigmoid", "softplus"})) return true;
    const auto inputs = x.owner()->inputs();
    if (is_one_of(name, {"add", "multiply", "divide"}))
      return is_positive(inputs[0]) && is_positive(inputs[1]);
    if (is_one_of(name, {"sum", "mean", "prod", "max", "min", "sqrt"}))
      return is_positive(inputs[0]);
    const std::vector<int> moved = x.owner()->op().moved_inputs(*x.owner());
    return !moved.empty() && std::ranges::all_of(moved, [&](int i) {
      return is_positive(inputs[static_cast<std::size_t>(i)]);
    });
  }

  // The inputs of an op that selects among their elements by size: a logarithm keeps their order.
  static std::vector<int> compared_inputs(std::string_view name) {
    if (is_one_of(name, {"max", "min"})) return {0};
    if (is_one_of(name, {"maximum", "minimum", "fmax", "fmin"})) return {0, 1};
    return name == "clip" ? std::vector{0, 1, 2} : std::vector<int>();
  }

  Variable through_moves(Of of, const Variable& x, bool any_sign) {
    if (x.owner() == nullptr || x.index() != 0) return {};
    const Apply& node = *x.owner();
    std::vector<int> moved = node.op().moved_inputs(node);
    const bool compares = moved.empty() && of == Of::x;
    if (compares) moved = compared_inputs(op_name(x));
    std::vector<Variable> inputs(node.inputs().begin(), node.inputs().end());
    bool is_found = false;
    for (const int i : moved) {
      Variable& input = inputs[static_cast<std::size_t>(i)];
      input = find(of, input, any_sign && !compares);
      is_found |= static_cast<bool>(input);
    }
    if (!is_found) return {};
    for (const int i : moved) {
      Variable& input = inputs[static_cast<std::size_t>(i)];
      if (input) continue;
      const Variable& other = node.inputs()[static_cast<std::size_t>(i)];
      const bool is_zero = is_number(other, 0);
      if ((compares || !any_sign) && (of != Of::x || !(is_zero || is_positive(other)))) return {};
      input = plain(of, cast(without_unselected(node, moved, i, of), x.type().dtype()));
    }
    return node.op()(inputs)[0];
  }

  static Variable plain(Of of, const Variable& x) {
    if (of == Of::x) return call("log", x);
    return call("log1p", of == Of::one_plus_x ? x : negative(x));
  }

  // Input `i` of an op that moves elements, with 1 or 0 in the place of the elements that `node`
  // does not select: their logarithm may have no derivative.
  static Variable without_unselected(const Apply& node, std::span<const int> moved, int i, Of of) {
    const Variable& x = node.inputs()[static_cast<std::size_t>(i)];
    const std::string_view name = op_name(node.output(0));
    const bool selects = name == "where" || (name == "set_subtensor" && i == 0);
    if (x.value() != nullptr || !selects) return x;
    std::vector<Variable> inputs(node.inputs().begin(), node.inputs().end());
    for (const int other : moved)
      if (other != i) inputs[static_cast<std::size_t>(other)] = number_like(of == Of::x ? 1 : 0, x);
    return node.op()(inputs)[0];
  }

  // The number of variables that the search may still visit: bounds it where paths are shared.
  int visits_ = 100;
};

using Of = LogarithmSearch::Of;

Variable stable_log_form(const Variable& x) {
  return is_sum_of_exp(x) ? Variable() : LogarithmSearch().find(Of::x, x, true);
}

Variable stable_log(const Variable& x) {
  if (const Variable y = stable_log_form(x)) return y;
  if (const Variable y = one_plus(x)) return call("log1p", y);
  const Variable y = one_minus(x);
  return y ? call("log1p", negative(y)) : Variable();
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
  if (name == "log2") return scaled(stable_log_form(inputs[0]), std::numbers::log2e);
  if (name == "log10") return scaled(stable_log_form(inputs[0]), std::numbers::log10e);
  if (name == "log1p") return LogarithmSearch().find(Of::one_plus_x, inputs[0], true);
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
