// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/copy_op.hpp"

#include "spanwise/copy.hpp"
#include "spanwise/error.hpp"
#include "spanwise/graph/op.hpp"

namespace spanwise::graph {
namespace {

class CopyOp final : public Op {
 public:
  std::string name() const override { return "Copy"; }
  Ref<Apply> make_node(std::span<const Variable> inputs) const override {
    if (inputs.size() != 1) fail<GraphError>("Copy: expected 1 input, got ", inputs.size());
    return Apply::make(Ref<const Op>(this), {inputs[0]}, {Variable(inputs[0].type())});
  }
  std::unique_ptr<Thunk> make_thunk(const ThunkContext& context) const override {
    return make_async_thunk([from = context.input(0), to = context.output(0)] {
      to->value = spanwise::copy(*from->value);
    });
  }
};

}  // namespace

Variable copied(const Variable& variable) {
  static const Ref<const Op> op = make_ref<const CopyOp>();
  return op->make_node(std::span(&variable, 1))->output(0);
}

}  // namespace spanwise::graph
