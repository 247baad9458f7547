// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "elementwise_op.hpp"

#include <numbers>

#include "spanwise/op_sdk/expression.hpp"

// One line for each operation of elementwise_table.inc: its derivatives with respect to its inputs,
// or the reason why there are none. An operation without a line does not compile.
namespace spanwise::ops {
namespace {

using namespace expression;

/// The variables in which a derivative is written.
struct Terms {
  const Apply& node;
  Variable g;    ///< the derivative with respect to the output
  Variable out;  ///< the output
  const Variable& x(int i) const { return node.inputs()[static_cast<std::size_t>(i)]; }
};

Variable where(const Variable& condition, const Variable& a, const Variable& b) {
  return call("where", condition, a, b);
}
/// `g` where the condition is true, else 0.
Variable masked(const Variable& condition, const Variable& g) {
  return where(condition, g, number_like(0, g));
}
Variable unmasked(const Variable& condition, const Variable& g) {
  return where(condition, number_like(0, g), g);
}
/// 0, the derivative almost everywhere of a step function such as floor.
Variable zero(const Terms& t) { return number_like(0, t.g) * t.g; }

// For the base x of x ** y. Finite at x = 0 for y = 0, and without a power where the exponent is a
// constant 2 or 0.5.
Variable power_base(const Terms& t) {
  const Variable &x = t.x(0), &y = t.x(1);
  const std::optional<double> exponent = constant_number(y);
  if (exponent == 2.0) return t.g * (2.0 * x);
  if (exponent == 0.5) return t.g * 0.5 / t.out;
  if (exponent) return t.g * (y * call("power", x, y - 1.0));
  const Variable is_zero = call("equal", y, number_like(0, y));
  return t.g * where(is_zero, number_like(0, t.out), y * call("power", x, y - 1.0));
}

// For the exponent. 0 at x = 0, where the logarithm is not finite.
Variable power_exponent(const Terms& t) {
  const Variable& x = t.x(0);
  const Variable is_zero = call("equal", x, number_like(0, x));
  return t.g * t.out *
         where(is_zero, number_like(0, t.g), call("log", where(is_zero, number_like(1, x), x)));
}

Variable is_first_smaller(const Terms& t) { return call("less_equal", t.x(0), t.x(1)); }
Variable is_first_larger(const Terms& t) { return call("greater_equal", t.x(0), t.x(1)); }
// fmin and fmax take the other operand where one is not a number.
Variable or_second_is_nan(const Variable& condition, const Terms& t) {
  return call("logical_or", condition, call("isnan", t.x(1)));
}
Variable is_inside(const Terms& t) {
  return call("logical_and", call("greater_equal", t.x(0), t.x(1)),
              call("less_equal", t.x(0), t.x(2)));
}

template <OpId>
struct GradientOf;  // no definition: each operation with floating results has a line below

#define SW_GRADIENT1(op, first)                                            \
  template <>                                                              \
  struct GradientOf<OpId::op> {                                            \
    static Cotangent of([[maybe_unused]] const Terms& t, int) {            \
      [[maybe_unused]] const Variable &g = t.g, &out = t.out, &x = t.x(0); \
      return first;                                                        \
    }                                                                      \
  };
#define SW_GRADIENT2(op, first, second)                                                 \
  template <>                                                                           \
  struct GradientOf<OpId::op> {                                                         \
    static Cotangent of([[maybe_unused]] const Terms& t, int input) {                   \
      [[maybe_unused]] const Variable &g = t.g, &out = t.out, &x = t.x(0), &y = t.x(1); \
      return input == 0 ? Cotangent(first) : Cotangent(second);                         \
    }                                                                                   \
  };
// clang-format off: it takes g * y in a macro's argument for a declaration
SW_GRADIENT2(add, g, g)
SW_GRADIENT2(subtract, g, -g)
SW_GRADIENT2(multiply, g* y, g* x)
SW_GRADIENT2(divide, g / y, -(g* out / y))
SW_GRADIENT2(floor_divide, zero(t), zero(t))
SW_GRADIENT2(remainder, g, -(g* call("floor_divide", x, y)))
SW_GRADIENT2(fmod, g, -(g* call("trunc", x / y)))
SW_GRADIENT2(power, power_base(t), power_exponent(t))
SW_GRADIENT2(float_power, power_base(t), power_exponent(t))
SW_GRADIENT1(negative, -g)
SW_GRADIENT1(positive, g)
SW_GRADIENT1(absolute, g* call("sign", x))
SW_GRADIENT1(fabs, g* call("sign", x))
SW_GRADIENT1(sign, zero(t))
SW_GRADIENT2(copysign, g* call("sign", x) * call("copysign", number_like(1, out), y), zero(t))
SW_GRADIENT1(nextafter, Cotangent::undefined("it steps to the next floating-point number"))
SW_GRADIENT2(hypot, g* x / out, g* y / out)
SW_GRADIENT1(square, g*(2.0 * x))
SW_GRADIENT1(reciprocal, -(g* out* out))

SW_GRADIENT1(exp, g* out)
SW_GRADIENT1(exp2, g* out* std::numbers::ln2)
SW_GRADIENT1(expm1, g*(out + 1.0))
SW_GRADIENT1(log, g / x)
SW_GRADIENT1(log2, g / (x * std::numbers::ln2))
SW_GRADIENT1(log10, g / (x * std::numbers::ln10))
SW_GRADIENT1(log1p, g / (x + 1.0))
SW_GRADIENT1(sqrt, g * 0.5 / out)
SW_GRADIENT1(cbrt, g / (3.0 * out * out))
SW_GRADIENT1(sin, g* call("cos", x))
SW_GRADIENT1(cos, -(g* call("sin", x)))
SW_GRADIENT1(tan, g*(1.0 + out * out))
SW_GRADIENT1(arcsin, g / call("sqrt", 1.0 - x * x))
SW_GRADIENT1(arccos, -(g / call("sqrt", 1.0 - x * x)))
SW_GRADIENT1(arctan, g / (1.0 + x * x))
SW_GRADIENT2(arctan2, g* y / (x * x + y * y), -(g* x / (x * x + y * y)))
SW_GRADIENT1(sinh, g* call("cosh", x))
SW_GRADIENT1(cosh, g* call("sinh", x))
SW_GRADIENT1(tanh, g*(1.0 - out * out))
SW_GRADIENT1(arcsinh, g / call("sqrt", x* x + 1.0))
SW_GRADIENT1(arccosh, g / (call("sqrt", x - 1.0) * call("sqrt", x + 1.0)))
SW_GRADIENT1(arctanh, g / (1.0 - x * x))
SW_GRADIENT1(deg2rad, g*(std::numbers::pi / 180))
SW_GRADIENT1(rad2deg, g*(180 / std::numbers::pi))
SW_GRADIENT2(logaddexp, g* call("exp", x - out), g* call("exp", y - out))
SW_GRADIENT2(logaddexp2, g* call("exp2", x - out), g* call("exp2", y - out))
SW_GRADIENT2(heaviside, zero(t), zero(t))
SW_GRADIENT1(erf, g*(2 * std::numbers::inv_sqrtpi) * call("exp", -(x* x)))
SW_GRADIENT1(sigmoid, g* out*(1.0 - out))
SW_GRADIENT1(softplus, g* call("sigmoid", x))

SW_GRADIENT1(floor, zero(t))
SW_GRADIENT1(ceil, zero(t))
SW_GRADIENT1(trunc, zero(t))
SW_GRADIENT1(rint, zero(t))

SW_GRADIENT2(minimum, masked(is_first_smaller(t), g), unmasked(is_first_smaller(t), g))
SW_GRADIENT2(maximum, masked(is_first_larger(t), g), unmasked(is_first_larger(t), g))
SW_GRADIENT2(fmin, masked(or_second_is_nan(is_first_smaller(t), t), g),
             unmasked(or_second_is_nan(is_first_smaller(t), t), g))
SW_GRADIENT2(fmax, masked(or_second_is_nan(is_first_larger(t), t), g),
             unmasked(or_second_is_nan(is_first_larger(t), t), g))
SW_GRADIENT1(conjugate, g)
SW_GRADIENT1(angle, zero(t))
// clang-format on

template <>
struct GradientOf<OpId::clip> {
  static Cotangent of(const Terms& t, int input) {
    if (input == 0) return masked(is_inside(t), t.g);
    return masked(call(input == 1 ? "less" : "greater", t.x(0), t.x(input)), t.g);
  }
};

template <>
struct GradientOf<OpId::where> {
  static Cotangent of(const Terms& t, int input) {
    return input == 1 ? masked(t.x(0), t.g) : unmasked(t.x(0), t.g);
  }
};

using Rule = Cotangent (*)(const Terms&, int);

// Of results that are bool or integers.
Cotangent no_gradient(const Terms&, int) {
  return Cotangent::undefined("its result is not of a floating dtype");
}

template <OpId op, bool is_discrete>
constexpr Rule rule_of() {
  if constexpr (is_discrete)
    return &no_gradient;
  else
    return &GradientOf<op>::of;
}

constexpr Rule rules[] = {
#define SW_OP(name, Body, inputs, dtypes, result, traits) \
  rule_of<OpId::name, Result::result == Result::boolean || ((dtypes) & floats) == 0>(),
#include "../elementwise_table.inc"
#undef SW_OP
};

/// Whether another operand may have an extent other than 1 along axis `from_last` of input `i`,
/// counted from the last axis, so that the input is broadcast if its own extent is 1.
bool may_be_broadcast(const Apply& node, std::size_t i, int from_last) {
  for (std::size_t k = 0; k < node.inputs().size(); ++k) {
    const Shape& shape = node.inputs()[k].type().shape();
    if (k != i && from_last < shape.size() && shape[shape.size() - 1 - from_last] != 1) return true;
  }
  return false;
}

/// The derivative for operand `i`, summed over the axes along which the operand is broadcast.
Variable unbroadcast(const Variable& derivative, const Apply& node, std::size_t i) {
  const TensorType& type = node.inputs()[i].type();
  if (type.rank() != node.output(0).type().rank()) return sum_to(derivative, node.inputs()[i]);
  for (int k = 0; k < type.rank(); ++k) {
    const std::int64_t extent = type.shape()[type.rank() - 1 - k];
    const bool may_be_1 = extent == 1 || extent == TensorType::any;
    if (may_be_1 && may_be_broadcast(node, i, k)) return sum_to(derivative, node.inputs()[i]);
  }
  return derivative;
}

}  // namespace

std::vector<Cotangent> elementwise_gradient(OpId op, const Apply& node, const Cotangent& output) {
  std::vector<Cotangent> derivatives;
  const Terms terms{node, output.variable(), node.output(0)};
  for (std::size_t i = 0; i < node.inputs().size(); ++i) {
    const DType dtype = node.inputs()[i].type().dtype();
    if (dtype.is_complex() || node.output(0).type().dtype().is_complex()) {
      derivatives.push_back(Cotangent::undefined("derivatives of complex numbers are not defined"));
    } else if (!dtype.is_floating()) {
      derivatives.emplace_back();
    } else {
      Cotangent derivative = rules[static_cast<std::size_t>(op)](terms, static_cast<int>(i));
      if (derivative.has_variable()) derivative = unbroadcast(derivative.variable(), node, i);
      derivatives.push_back(std::move(derivative));
    }
  }
  return derivatives;
}

}  // namespace spanwise::ops
