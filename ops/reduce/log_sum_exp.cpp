// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "spanwise/graph/rewrite.hpp"
#include "spanwise/op_sdk/expression.hpp"

// Replaces log(sum(exp(x))), which overflows, by max(x) + log(sum(exp(x - max(x)))), and log(mean(
// exp(x))) in the same way.
namespace spanwise::ops::reduce {
namespace {

using namespace expression;

// Whether a maximum has been subtracted from `x` already.
bool is_shifted(const Variable& x) {
  const Apply* difference = node_of(x, "subtract");
  if (difference == nullptr) return false;
  Variable maximum = difference->inputs()[1];
  if (const Apply* marker = node_of(maximum, "consider_constant")) maximum = marker->inputs()[0];
  if (const Apply* finite = node_of(maximum, "where")) maximum = finite->inputs()[1];
  return node_of(maximum, "max") != nullptr;
}

std::vector<std::int64_t> reduced_axes(const OpProperties& properties, int rank) {
  const auto axis = properties.find("axis");
  if (axis != properties.end()) return std::get<std::vector<std::int64_t>>(axis->second);
  std::vector<std::int64_t> all;
  for (int i = 0; i < rank; ++i) all.push_back(i);
  return all;
}

std::vector<std::int64_t> kept_axes(const std::vector<std::int64_t>& reduced, int rank) {
  std::vector<std::int64_t> kept;
  for (std::int64_t i = 0; i < rank; ++i)
    if (std::find(reduced.begin(), reduced.end(), i) == reduced.end()) kept.push_back(i);
  return kept;
}

// The maximum along `axes`, and 0 where it is not finite, so that x - maximum is not NaN.
Variable finite_maximum(const Variable& x, const OpProperties& axes) {
  const Variable maximum = apply("max", {x}, axes);
  const Variable finite =
      apply("where", {apply("isfinite", {maximum}), maximum, number_like(0, x)});
  return apply("consider_constant", {finite});
}

std::vector<Variable> log_sum_exp(const Apply& node) {
  const Apply* log = node_of(node.output(0), "log");
  const char* name = "sum";
  const Apply* sum = log == nullptr ? nullptr : node_of(log->inputs()[0], name);
  if (sum == nullptr && log != nullptr) sum = node_of(log->inputs()[0], name = "mean");
  const Variable x = sum == nullptr ? Variable() : argument(sum->inputs()[0], "exp");
  if (!x || is_shifted(moved(x).value)) return {};
  const DType dtype = x.type().dtype();
  if (!dtype.is_floating() || dtype != node.output(0).type().dtype()) return {};

  const int rank = x.type().rank();
  const std::vector<std::int64_t> axes = reduced_axes(sum->op().recipe()->properties, rank);
  const OpProperties kept{{"axis", axes}, {"keepdims", true}};
  const Variable maximum = finite_maximum(x, kept);
  const Variable total = apply(name, {apply("exp", {x - maximum})}, kept);
  const Variable result = maximum + apply("log", {total});
  if (node.output(0).type().rank() == rank) return {result};
  return {dimshuffle(result, kept_axes(axes, rank))};
}

[[maybe_unused]] const bool log_sum_exp_registered =
    register_node_rewrite({.name = "log_sum_exp",
                           .position = 6,
                           .tags = {"fast_run", "fast_compile", "stabilize"},
                           .apply = log_sum_exp});

}  // namespace
}  // namespace spanwise::ops::reduce
