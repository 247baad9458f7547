// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <unordered_set>
#include <utility>

#include "core/string_utils.hpp"
#include "graph/hooks_in_use.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/graph/op.hpp"
#include "spanwise/graph/variable.hpp"

namespace spanwise {
namespace {

// Each node holds references to its input nodes, so releasing a long chain would recurse to its
// length. Instead the outermost call empties a list iteratively. Only the pointer to the list is
// thread-local, so that graphs may be released after the thread's own objects have been destroyed.
void release_iteratively(std::vector<Variable> inputs) noexcept {
  static thread_local std::vector<std::vector<Variable>>* pending = nullptr;
  try {
    if (pending != nullptr) {
      pending->push_back(std::move(inputs));
      return;
    }
    std::vector<std::vector<Variable>> waiting;
    waiting.reserve(16);
    pending = &waiting;
    inputs.clear();
    while (!waiting.empty()) {
      const std::vector<Variable> next = std::move(waiting.back());
      waiting.pop_back();
    }
  } catch (const std::bad_alloc&) {
    // Out of memory for the list: `inputs` is released recursively.
  }
  pending = nullptr;
}

void check_outputs(const std::string& op, const std::vector<Variable>& inputs,
                   const std::vector<Variable>& outputs) {
  std::unordered_set<Variable> taken(inputs.begin(), inputs.end());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Variable& output = outputs[i];
    if (!output) fail<GraphError>(op, ": output ", i, " names no variable");
    if (output.owner() != nullptr)
      fail<GraphError>(op, ": output ", i, " (", output.label(),
                       ") is the result of another Apply already; make a new variable of its "
                       "type for each use of the op");
    if (output.value() != nullptr) fail<GraphError>(op, ": output ", i, " is a constant");
    if (!taken.insert(output).second)
      fail<GraphError>(op, ": output ", i, " (", output.label(),
                       ") is an input or another output of the same node as well; make a new "
                       "variable of its type");
  }
}

}  // namespace

Apply::Apply(Ref<const Op> op, std::vector<Variable> inputs)
    : op_(std::move(op)), inputs_(std::move(inputs)) {}

Apply::~Apply() { release_iteratively(std::move(inputs_)); }

Ref<Apply> Apply::make(Ref<const Op> op, std::vector<Variable> inputs,
                       std::vector<Variable> outputs) {
  if (!op) fail<GraphError>("Apply: expected an op, got none");
  const std::string name = op->name();
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (!inputs[i]) fail<GraphError>(name, ": input ", i, " names no variable");
  check_outputs(name, inputs, outputs);
  Ref<Apply> apply(new Apply(std::move(op), std::move(inputs)));
  apply->outputs_.reserve(outputs.size());
  for (const Variable& output : outputs) {
    VariableNode* node = output.node();
    apply->outputs_.emplace_back(node);
    node->index_ = static_cast<int>(apply->outputs_.size()) - 1;
    // References to the variable become references to the whole node.
    const std::int64_t references = node->count_.exchange(0, std::memory_order_acq_rel);
    for (std::int64_t i = 0; i < references; ++i) apply->add_ref();
    node->owner_ = apply.get();
  }
  apply->trace_ = graph::current_trace();
  graph::observe(apply);
  return apply;
}

Variable Apply::output(int i) const noexcept {
  return Variable(Ref<VariableNode>(outputs_[static_cast<std::size_t>(i)].get()));
}

std::vector<Variable> Apply::outputs() const {
  std::vector<Variable> all;
  all.reserve(outputs_.size());
  for (int i = 0; i < output_count(); ++i) all.push_back(output(i));
  return all;
}

std::string Apply::label() const {
  return text(op().name(), '(', joined(inputs_, ", ", &Variable::label), ')');
}

}  // namespace spanwise
