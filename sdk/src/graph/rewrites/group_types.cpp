// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/rewrites/group_types.hpp"

#include <algorithm>
#include <vector>

#include "spanwise/error.hpp"

namespace spanwise::graph {
namespace {

// Null where the inputs do not fit, which is an error when the function is called.
Ref<Apply> made_with(const Apply& node, const std::vector<Variable>& inputs) {
  try {
    return node.op().make_node(inputs);
  } catch (const Error&) {
    return {};
  }
}

}  // namespace

bool have_equal_patterns(const TensorType& a, const TensorType& b) {
  if (a.rank() != b.rank()) return false;
  for (int axis = 0; axis < a.rank(); ++axis) {
    const std::int64_t m = a.shape()[axis], n = b.shape()[axis];
    const bool is_any = m == TensorType::any || n == TensorType::any;
    if (is_any ? (m == 1 || n == 1) : m != n) return false;
  }
  return true;
}

TensorType common_type(const TensorType& a, const TensorType& b) {
  Shape shape = a.shape();
  for (int axis = 0; axis < a.rank(); ++axis)
    if (shape[axis] == TensorType::any) shape[axis] = b.shape()[axis];
  return TensorType(a.dtype(), shape, a.device());
}

std::optional<TensorType> GroupTypes::of(const Apply& node) {
  if (node.output_count() != 1 || !rewrite_.accepts(node)) return std::nullopt;
  const TensorType& declared = node.output(0).type();
  if (!may_have_narrower_type(node)) return declared;
  std::vector<Variable> inputs;
  for (const Variable& input : node.inputs())
    inputs.push_back(narrower_.contains(input) ? Variable(narrower_.at(input)) : input);
  const Ref<Apply> result = made_with(node, inputs);
  if (!result) return declared;
  if (!rewrite_.accepts(*result)) return std::nullopt;
  TensorType type = common_type(declared, result->output(0).type());
  if (type != declared) narrower_.emplace(node.output(0), type);
  return type;
}

// False where each extent that the declared type leaves open is open in an input, too.
bool GroupTypes::may_have_narrower_type(const Apply& node) const {
  const TensorType& declared = node.output(0).type();
  if (declared.has_fixed_shape()) return false;
  const auto inputs = node.inputs();
  if (std::ranges::any_of(inputs, [&](const Variable& input) { return narrower_.contains(input); }))
    return true;
  for (int from_last = 1; from_last <= declared.rank(); ++from_last) {
    if (declared.shape()[declared.rank() - from_last] != TensorType::any) continue;
    const bool is_open = std::ranges::any_of(inputs, [&](const Variable& input) {
      const Shape& shape = input.type().shape();
      return shape.size() >= from_last && shape[shape.size() - from_last] == TensorType::any;
    });
    if (!is_open) return true;
  }
  return false;
}

}  // namespace spanwise::graph
