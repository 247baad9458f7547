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

// The op that producer the elements of `node`, and its inputs.
FusedAlone elements_of_node(const Ref<Apply>& node) {
  const auto* producer = dynamic_cast<const ElementProducer*>(&node->op());
  if (producer == nullptr) return fused_alone(node);
  if (!producer->has_element_source()) return {};
  return {node->op_ref(), {node->inputs().begin(), node->inputs().end()}};
}

std::vector<Variable> transform_reduce(const Apply& node, const NodeSurroundings& around) {
  const auto* consumer = dynamic_cast<const ElementConsumer*>(&node.op());
  if (consumer == nullptr) return {};
  const Variable x = node.inputs()[0], result = node.output(0);
  const Ref<Apply> before(x.owner());
  if (!before || x.type().rank() == 0 || !are_on_one_device(x, result)) return {};
  const auto readers = around.readers(x);
  if (readers.size() != 1 || readers[0] == nullptr) return {};
  FusedAlone elements = elements_of_node(before);
  if (!elements.op) return {};
  const auto* producer = dynamic_cast<const ElementProducer*>(elements.op.get());
  if (!producer->has_element_source()) return {};
  const Ref<const Op> op = consumer->reading(std::move(elements.op), node);
  if (!op) return {};
  const Variable reduced(result.type(), result.name());
  Apply::make(op, std::move(elements.inputs), {reduced});
  return {reduced};
}

[[maybe_unused]] const bool transform_reduce_registered =
    register_node_rewrite({.name = "transform_reduce",
                           .position = 65,
                           .tags = {"fast_run", "fusion"},
                           .apply_within = transform_reduce});

}  // namespace
}  // namespace spanwise::ops
