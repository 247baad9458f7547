// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <unordered_map>
#include <utility>

#include "graph/aliases.hpp"
#include "graph/failure.hpp"
#include "graph/function_state.hpp"
#include "graph/hooks_in_use.hpp"
#include "graph/order.hpp"
#include "graph/rebuild.hpp"
#include "spanwise/copy.hpp"
#include "spanwise/devices.hpp"
#include "spanwise/error.hpp"
#include "spanwise/graph/function.hpp"

namespace spanwise {
namespace graph {
namespace {

void check_inputs(const std::string& name, const std::vector<Variable>& inputs) {
  VariableSet seen;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Variable& input = inputs[i];
    require<GraphError>(static_cast<bool>(input), "function ", name, ": input ", i,
                        " names no variable");
    require<GraphError>(input.value() == nullptr, "function ", name, ": input ", i, " (",
                        input.label(), ") is a constant; expected a variable without a value");
    require<GraphError>(seen.insert(input).second, "function ", name, ": ", input.label(),
                        " stands twice among the inputs, the second time at index ", i);
  }
}

void check_outputs(const std::string& name, const std::vector<Variable>& outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i)
    require<GraphError>(static_cast<bool>(outputs[i]), "function ", name, ": output ", i,
                        " names no variable");
}

void report_unused(const std::string& name, std::size_t index, const Variable& input,
                   UnusedInput how) {
  const std::string message =
      text("function ", name, ": no output needs the input at index ", index, ", ", input.label(),
           "; leave it out, or say on_unused_input=\"ignore\" or \"warn\"");
  if (how == UnusedInput::raise) fail<GraphError>(message);
  warn(message);
}

// One function while it is being compiled.
class Compilation {
 public:
  Compilation(std::vector<Variable> inputs, std::vector<Variable> outputs, FunctionOptions options)
      : options_(std::move(options)),
        device_(options_.device ? *options_.device : default_device()),
        inputs_(std::move(inputs)),
        given_(inputs_.begin(), inputs_.end()),
        outputs_(std::move(outputs)) {
    if (options_.name.empty()) options_.name = "<unnamed>";
  }

  Ref<FunctionState> run();

 private:
  const Ref<Cell>& cell_of(const Variable& variable);
  Ref<Cell> leaf_cell(const Variable& variable);
  [[noreturn]] void fail_missing(const Variable& leaf) const;
  Device device_of(const Apply& node) const;
  void check_unused() const;
  void make_input_slots();
  Step make_step(const Ref<Apply>& node);
  void sort_cells(const std::vector<Step>& steps);

  FunctionOptions options_;
  Device device_;
  std::vector<Variable> inputs_;
  VariableSet given_;
  std::vector<Variable> outputs_;
  std::vector<Ref<Apply>> nodes_;
  std::vector<Before> readers_first_;
  VariableSet leaving_;  // whose buffers leave the function
  std::unordered_map<Variable, Ref<Cell>> cells_;
  Ref<FunctionState> state_ = make_ref<FunctionState>();
};

Ref<FunctionState> Compilation::run() {
  check_inputs(options_.name, inputs_);
  check_outputs(options_.name, outputs_);
  outputs_ = protect(apply_givens(outputs_, options_.givens, inputs_), given_);
  nodes_ = nodes_for(outputs_, given_);
  const std::vector<Before> edges = readers_first(nodes_, given_);
  nodes_ = reorder(nodes_, edges);
  readers_first_ = edges.empty() ? edges : readers_first(nodes_, given_);
  check_unused();
  for (const Variable& output : outputs_) leaving_.insert(buffer_of(output, given_));
  leaving_.insert(outputs_.begin(), outputs_.end());

  make_input_slots();
  std::vector<Cell*> results;
  for (const Variable& output : outputs_) {
    const bool is_leaf = output.owner() == nullptr || given_.contains(output);
    state_->result_slots.push_back({cell_of(output), is_leaf});
    results.push_back(state_->result_slots.back().cell.get());
  }
  std::vector<Step> steps;
  steps.reserve(nodes_.size());
  for (const Ref<Apply>& node : nodes_) steps.push_back(make_step(node));
  sort_cells(steps);
  state_->name = options_.name;
  state_->device = device_;
  state_->inputs = inputs_;
  state_->outputs = outputs_;
  state_->program = Program(options_.name, std::move(steps), readers_first_, std::move(results));
  return state_;
}

void Compilation::check_unused() const {
  if (options_.on_unused_input == UnusedInput::ignore) return;
  VariableSet used(outputs_.begin(), outputs_.end());
  for (const Ref<Apply>& node : nodes_) used.insert(node->inputs().begin(), node->inputs().end());
  for (std::size_t i = 0; i < inputs_.size(); ++i)
    if (!used.contains(inputs_[i]))
      report_unused(options_.name, i, inputs_[i], options_.on_unused_input);
}

void Compilation::make_input_slots() {
  for (const Variable& input : inputs_) {
    const Ref<Cell> cell = make_ref<Cell>();
    cell->computed = true;
    cells_.emplace(input, cell);
    const TensorType& type = input.type();
    const bool has_fixed_extents =
        std::any_of(type.shape().begin(), type.shape().end(),
                    [](std::int64_t extent) { return extent != TensorType::any; });
    state_->input_slots.push_back(
        {cell, type, type.device().value_or(device_), input.label(), has_fixed_extents});
  }
}

const Ref<Cell>& Compilation::cell_of(const Variable& variable) {
  const auto found = cells_.find(variable);
  if (found != cells_.end()) return found->second;
  Ref<Cell> cell = variable.owner() == nullptr ? leaf_cell(variable) : make_ref<Cell>();
  return cells_.emplace(variable, std::move(cell)).first->second;
}

Ref<Cell> Compilation::leaf_cell(const Variable& variable) {
  if (variable.value() == nullptr) fail_missing(variable);
  Ref<Cell> cell = make_ref<Cell>();
  // Ops find constants read-only: a thunk that writes to one would change every later call.
  const Device device = variable.type().device().value_or(device_);
  cell->value = to_device(*variable.value(), device).as_readonly();
  cell->computed = true;
  state_->constant_cells.push_back(cell);
  return cell;
}

void Compilation::fail_missing(const Variable& leaf) const {
  std::string reader = "an output";
  for (const Ref<Apply>& node : nodes_) {
    const auto inputs = node->inputs();
    if (std::find(inputs.begin(), inputs.end(), leaf) != inputs.end()) reader = node->label();
  }
  fail<GraphError>("function ", options_.name, ": ", leaf.label(), " of ", leaf.type(), ", which ",
                   reader,
                   " needs, is neither an input nor a constant; add it to the inputs, or "
                   "replace it through givens");
}

// A node whose outputs are all fixed to one device runs there.
Device Compilation::device_of(const Apply& node) const {
  std::optional<Device> fixed;
  for (int i = 0; i < node.output_count(); ++i) {
    const std::optional<Device>& device = node.output(i).type().device();
    if (!device || (fixed && *fixed != *device)) return device_;
    fixed = device;
  }
  return fixed.value_or(device_);
}

Step Compilation::make_step(const Ref<Apply>& node) {
  Step step{node, nullptr, {}, {}, device_of(*node)};
  std::vector<bool> recyclable;
  for (const Variable& input : node->inputs()) step.inputs.push_back(cell_of(input));
  for (const Variable& output : node->outputs()) {
    step.outputs.push_back(cell_of(output));
    recyclable.push_back(!leaving_.contains(output));
  }
  const ThunkContext context(*node, step.device, step.inputs, step.outputs, std::move(recyclable));
  try {
    step.thunk = node->op().make_thunk(context);
    require<GraphError>(step.thunk != nullptr, node->op().name(), ": make_thunk gave no thunk");
  } catch (...) {
    rethrow_with_note([&] { return note_on_compile(options_.name, *node); });
  }
  return step;
}

// Kept are the buffers that belong to their cells alone.
void Compilation::sort_cells(const std::vector<Step>& steps) {
  for (const InputSlot& slot : state_->input_slots) state_->transient_cells.push_back(slot.cell);
  for (const Step& step : steps) {
    const AliasMap views = step.node->op().view_map(), overwrites = step.node->op().destroy_map();
    for (int i = 0; i < step.node->output_count(); ++i) {
      const bool stays =
          !leaving_.contains(step.node->output(i)) && !views.contains(i) && !overwrites.contains(i);
      auto& cells = stays ? state_->kept_cells : state_->transient_cells;
      cells.push_back(step.outputs[static_cast<std::size_t>(i)]);
    }
  }
}

}  // namespace
}  // namespace graph

CompiledFunction function(std::vector<Variable> inputs, std::vector<Variable> outputs,
                          FunctionOptions options) {
  graph::Compilation compilation(std::move(inputs), std::move(outputs), std::move(options));
  return CompiledFunction(compilation.run());
}

}  // namespace spanwise
