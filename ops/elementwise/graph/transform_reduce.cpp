// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <utility>
#include <vector>

#include "fused_op.hpp"
#include "spanwise/graph/elementwise.hpp"
#include "spanwise/graph/rewrite.hpp"

// A reduction computes the elements that only it reads: they are not written to memory. A result
// that other nodes read as well is still computed before.
namespace spanwise::ops {
namespace {

// The op that produces the elements of the result of `node`, and its inputs; a null op if there is
// none.
OpAndInputs elements_of_node(const Ref<Apply>& node) {
  const auto* producer = dynamic_cast<const ElementProducer*>(&node->op());
  if (producer == nullptr) return fuse_alone(node);
  if (!producer->has_element_source()) return {};
  return {node->op_ref(), {node->inputs().begin(), node->inputs().end()}};
}

std::vector<Variable> transform_reduce(const Apply& node, const NodeSurroundings& around) {
  const auto* consumer = dynamic_cast<const ElementConsumer*>(&node.op());
  if (consumer == nullptr) return {};
  const Variable x = node.inputs()[0], result = node.output(0);
  const Ref<Apply> owner(x.owner());
  if (!owner || x.type().rank() == 0 || x.type().device() != result.type().device()) return {};
  const auto readers = around.readers(x);
  if (readers.size() != 1 || readers[0] == nullptr) return {};
  OpAndInputs elements = elements_of_node(owner);
  if (!elements.op) return {};
  const auto* producer = dynamic_cast<const ElementProducer*>(elements.op.get());
  if (!producer->has_element_source()) return {};
  const Ref<const Op> op = consumer->fused_with(std::move(elements.op), node);
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
