// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/graph/rewrite.hpp"
#include "spanwise/op_sdk/expression.hpp"

// Reads shapes from the variables that determine them, so that f(x) is not computed for the shape
// of f(x) (theano/tensor/opt.py: ShapeFeature).
namespace spanwise::ops {
namespace {

using namespace expression;

// The input that gives `x` all extents at the same axes; null where there is none.
Variable input_of_same_shape(const Variable& x) {
  const Apply* node = x.owner();
  const int rank = x.type().rank();
  if (node == nullptr || rank == 0) return {};
  Variable same;
  for (int axis = 0; axis < rank; ++axis) {
    const auto sources = node->op().extent_sources(*node, x.index(), axis);
    if (sources.size() != 1 || sources[0].axis != axis) return {};
    const Variable& input = node->inputs()[static_cast<std::size_t>(sources[0].input)];
    if (input.type().shape() != x.type().shape() || (same && same != input)) return {};
    same = input;
  }
  return same;
}

// The earliest variable that has the shape of `x`.
Variable shape_origin(const Variable& x) {
  Variable origin = x;
  while (const Variable input = input_of_same_shape(origin)) origin = input;
  return origin;
}

// Replaces x.shape[k] by an extent that does not need x.
std::vector<Variable> lift_extent(const ExtentOrigin& origin) {
  const Variable lifted = inferred_extent(origin.variable, origin.axis);
  if (item_of_shape(lifted) == origin) return {};
  return {lifted};
}

std::vector<Variable> lift_shapes(const Apply& node) {
  const Variable output = node.output(0);
  if (const auto extent = item_of_shape(output)) return lift_extent(*extent);
  if (node_of(output, "shape") != nullptr) {
    const Variable origin = shape_origin(node.inputs()[0]);
    if (origin != node.inputs()[0]) return {call("shape", origin)};
    const bool is_known = origin.type().rank() == 0 || is_view_of_leaf(origin);
    const Variable stand_in = is_known ? Variable() : shape_stand_in(origin);
    if (stand_in) return {call("shape", stand_in)};
  }
  if (node_of(output, "sum_to") != nullptr) {
    const Variable &x = node.inputs()[0], &like = node.inputs()[1];
    const Variable origin = shape_origin(like);
    if (have_equal_shapes(x, like)) return {x};
    if (origin != like) return {sum_to(x, origin)};
  }
  return {};
}

[[maybe_unused]] const bool lift_registered = register_node_rewrite(
    {.name = "lift_shapes", .position = 9, .tags = {"fast_run"}, .apply = lift_shapes});

}  // namespace
}  // namespace spanwise::ops
