// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <utility>
#include <vector>

#include "fused_op.hpp"
#include "spanwise/graph/element_source.hpp"
#include "spanwise/graph/rewrite.hpp"

// A reduction computes the elements that only it reads: they are not written to memory. What others
// read as well stays a result of its own.
namespace spanwise::ops {
namespace {

bool are_on_one_device(const Variable& a, const Variable& b) {
  return a.type().device() == b.type().device();
}

// The op that gives the elements of `node`, and its inputs.
FusedAlone elements_of_node(const Ref<Apply>& node) {
  const auto* gives = dynamic_cast<const GivesElements*>(&node->op());
  if (gives == nullptr) return fused_alone(node);
  if (!gives->gives_elements()) return {};
  return {node->op_ref(), {node->inputs().begin(), node->inputs().end()}};
}

std::vector<Variable> lift(const Apply& node, const NodeSurroundings& around) {
  const auto* takes = dynamic_cast<const TakesElements*>(&node.op());
  if (takes == nullptr) return {};
  const Variable x = node.inputs()[0], result = node.output(0);
  const Ref<Apply> before(x.owner());
  if (!before || x.type().rank() == 0 || !are_on_one_device(x, result)) return {};
  const auto readers = around.readers(x);
  if (readers.size() != 1 || readers[0] == nullptr) return {};
  FusedAlone elements = elements_of_node(before);
  if (!elements.op) return {};
  const auto* gives = dynamic_cast<const GivesElements*>(elements.op.get());
  if (!gives->gives_elements()) return {};
  const Ref<const Op> op = takes->reading(std::move(elements.op), node);
  if (!op) return {};
  const Variable made(result.type(), result.name());
  Apply::make(op, std::move(elements.inputs), {made});
  return {made};
}

[[maybe_unused]] const bool lift_registered = register_node_rewrite(
    {.name = "lift", .position = 65, .tags = {"fast_run", "fusion"}, .apply_within = lift});

}  // namespace
}  // namespace spanwise::ops
