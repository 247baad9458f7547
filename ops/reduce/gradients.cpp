// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "reduce_op.hpp"

#include <string>

#include "spanwise/op_sdk/expression.hpp"

namespace spanwise::ops::reduce {
namespace {

using namespace expression;

Variable where(const Variable& condition, const Variable& a, const Variable& b) {
  return call("where", condition, a, b);
}

/// One reduction and the variables in which its derivative is written.
class ReductionGradient {
 public:
  ReductionGradient(const Apply& node, const AxisSet& axes, bool keepdims, const Variable& output)
      : x_(node.inputs()[0]),
        axes_(axes),
        keepdims_(keepdims),
        g_(cast(with_axes(output), x_.type().dtype())),
        out_(cast(with_axes(node.output(0)), x_.type().dtype())) {}

  Cotangent of(Operation op, double correction) const {
    switch (op) {
      case Operation::sum:
        return broadcast_like(g_, x_);
      case Operation::nansum:
        return where(apply("isnan", {x_}), number_like(0, x_), broadcast_like(g_, x_));
      case Operation::mean:
        return broadcast_like(g_ / count(), x_);
      case Operation::prod:
        return product();
      case Operation::var:
        return g_ * (2.0 * deviation()) / (count() - correction);
      case Operation::std:
        return g_ * deviation() / (out_ * (count() - correction));
      case Operation::min:
      case Operation::max:
        return extreme(out_);
      case Operation::ptp:
        return extreme(with_keepdims("max")).variable() - extreme(with_keepdims("min")).variable();
      default:
        return Cotangent::undefined("its result is not of a floating dtype");
    }
  }

 private:
  // The value with the reduced axes kept, of extent 1. A number broadcasts without them.
  Variable with_axes(const Variable& value) const {
    if (keepdims_ || value.type().rank() == 0) return value;
    std::vector<std::int64_t> order;
    std::int64_t next = 0;
    for (int axis = 0; axis < x_.type().rank(); ++axis)
      order.push_back(axes_[static_cast<std::size_t>(axis)] ? -1 : next++);
    return dimshuffle(value, std::move(order));
  }

  // The reduction `op` of `value` over the same axes, with keepdims.
  Variable with_keepdims(const char* op, const Variable& value) const {
    std::vector<std::int64_t> listed;
    for (int axis = 0; axis < x_.type().rank(); ++axis)
      if (axes_[static_cast<std::size_t>(axis)]) listed.push_back(axis);
    return cast(apply(op, {value}, {{"axis", std::move(listed)}, {"keepdims", true}}),
                x_.type().dtype());
  }
  Variable with_keepdims(const char* op) const { return with_keepdims(op, x_); }

  // The number of elements per output.
  Variable count() const {
    Variable total = number_like(1, x_);
    for (int axis = 0; axis < x_.type().rank(); ++axis)
      if (axes_[static_cast<std::size_t>(axis)])
        total = total * cast(extent(x_, axis), x_.type().dtype());
    return total;
  }

  Variable deviation() const { return x_ - with_keepdims("mean"); }

  // The derivative is shared by the elements that have the extreme value.
  Cotangent extreme(const Variable& value) const {
    const Variable hits = cast(call("equal", x_, value), x_.type().dtype());
    return g_ / with_keepdims("sum", hits) * hits;
  }

  // The product of the other elements; not product / element, which is undefined where it is 0.
  Cotangent product() const {
    const Variable is_zero = call("equal", x_, number_like(0, x_));
    const Variable nonzero = where(is_zero, number_like(1, x_), x_);
    const Variable of_nonzero = with_keepdims("prod", nonzero);
    const Variable zeros = with_keepdims("sum", cast(is_zero, x_.type().dtype()));
    const Variable zero = number_like(0, x_);
    const Variable at_zero = where(call("equal", zeros, number_like(1, zeros)), of_nonzero, zero);
    const Variable elsewhere = where(call("equal", zeros, zero), of_nonzero / nonzero, zero);
    return g_ * where(is_zero, at_zero, elsewhere);
  }

  Variable x_;
  AxisSet axes_;
  bool keepdims_;
  Variable g_, out_;  // with the reduced axes
};

}  // namespace

Cotangent reduction_gradient(Operation op, const Apply& node, const AxisSet& axes, bool keepdims,
                             double correction, const Variable& output) {
  if (node.inputs()[0].type().dtype().is_complex())
    return Cotangent::undefined("derivatives of complex numbers are not defined");
  return ReductionGradient(node, axes, keepdims, output).of(op, correction);
}

Cotangent scan_gradient(Operation op, int axis, const Variable& output) {
  if (op != Operation::sum)
    return Cotangent::undefined(
        "a cumulative product has no derivative here, since its elements may be zero; write it as "
        "the "
        "exp of a cumsum of logarithms where they are positive");
  std::string reversed;
  for (int i = 0; i < axis; ++i) reversed += ":, ";
  reversed += "::-1";
  const auto flipped = [&](const Variable& x) {
    return apply("subtensor", {x}, {{"index", reversed}});
  };
  return flipped(apply("cumsum", {flipped(output)}, {{"axis", std::vector<std::int64_t>{axis}}}));
}

}  // namespace spanwise::ops::reduce
