// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "graph/aliases.hpp"
#include "graph/checks.hpp"
#include "graph/failure.hpp"
#include "graph/function_state.hpp"
#include "graph/order.hpp"
#include "graph/placement.hpp"
#include "graph/rebuild.hpp"
#include "graph/releases.hpp"
#include "graph/rewrites/registry.hpp"
#include "spanwise/config.hpp"
#include "spanwise/copy.hpp"
#include "spanwise/creation.hpp"
#include "spanwise/devices.hpp"
#include "spanwise/error.hpp"
#include "spanwise/graph/function.hpp"

namespace spanwise {
namespace graph {
namespace {

std::vector<std::vector<Ref<Cell>>> output_cells(const std::vector<Step>& steps) {
  std::vector<std::vector<Ref<Cell>>> cells;
  cells.reserve(steps.size());
  for (const Step& step : steps) cells.push_back(step.outputs);
  return cells;
}

// The compilation of one function.
class Compilation {
 public:
  Compilation(std::vector<Variable> inputs, std::vector<Variable> outputs, FunctionOptions options)
      : options_(std::move(options)),
        device_(options_.device ? *options_.device : default_device()),
        inputs_(std::move(inputs)),
        given_(inputs_.begin(), inputs_.end()),
        mutable_(options_.mutable_inputs.begin(), options_.mutable_inputs.end()),
        outputs_(std::move(outputs)),
        output_count_(outputs_.size()) {
    if (options_.name.empty()) options_.name = "<unnamed>";
    frees_ = options_.allow_gc ? *options_.allow_gc : config::get_bool("allow_gc");
    if (frees_ && options_.preallocate)
      fail<GraphError>("function ", options_.name,
                       ": preallocate keeps memory between calls, and allow_gc lets go of it; "
                       "expected one of the two");
  }

  Ref<FunctionState> run();

 private:
  const Ref<Cell>& cell_of(const Variable& variable);
  Ref<Cell> leaf_cell(const Variable& variable);
  [[noreturn]] void fail_missing(const Variable& leaf) const;
  void add_updates();
  void place();
  void rewrite();
  void order_nodes();
  VariableSet numbers_needed_there() const;
  void make_input_slots();
  void make_result_slots();
  Step make_step(const Ref<Apply>& node);
  void sort_cells(const std::vector<Step>& steps);
  void plan_results(const std::vector<Step>& steps);
  void preallocate();

  FunctionOptions options_;
  Device device_;
  std::vector<Variable> inputs_;
  VariableSet given_, mutable_;
  // the function's outputs, then the new values of shared variables
  std::vector<Variable> outputs_;
  std::size_t output_count_;
  std::vector<Ref<Apply>> nodes_;
  std::vector<Before> readers_first_;
  VariableSet escaping_;  // variables whose buffers the function returns
  std::unordered_map<Variable, Ref<Cell>> cells_;
  std::vector<KeptResult> kept_;
  bool frees_ = false;
  MemoryPlan plan_;
  Releases releases_;
  Ref<FunctionState> state_ = make_ref<FunctionState>();
};

Ref<FunctionState> Compilation::run() {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  check_function_inputs(options_.name, inputs_);
  check_function_outputs(options_.name, outputs_);
  check_function_updates(options_.name, options_);
  add_updates();
  outputs_ = apply_givens(outputs_, options_.givens, inputs_);
  check_used_inputs(options_.name, inputs_, outputs_, options_.on_unused_input);
  place();
  rewrite();
  order_nodes();
  for (const Variable& output : outputs_)
    for (const Variable& buffer : buffers_of(output, given_)) escaping_.insert(buffer);
  escaping_.insert(outputs_.begin(), outputs_.end());

  make_input_slots();
  make_result_slots();
  std::vector<Step> steps;
  steps.reserve(nodes_.size());
  for (const Ref<Apply>& node : nodes_) steps.push_back(make_step(node));
  sort_cells(steps);
  plan_results(steps);
  std::vector<Cell*> results;
  for (const ResultSlot& slot : state_->result_slots) results.push_back(slot.cell.get());
  state_->name = options_.name;
  state_->device = device_;
  state_->inputs = inputs_;
  state_->outputs.assign(outputs_.begin(), outputs_.begin() + static_cast<long>(output_count_));
  state_->mode = mode_name(options_.mode.name);
  state_->program = Program(options_.name, std::move(steps), readers_first_, std::move(results));
  if (state_->mode == "debug") state_->program.check_every_step();
  if (frees_)
    state_->program.release_early(std::move(releases_));
  else if (state_->program.runs_in_order())
    state_->program.share_memory(std::move(plan_));
  if (options_.profile) {
    state_->times = std::make_unique<StepTimes>(nodes_.size());
    state_->program.measure(*state_->times);
  }
  state_->compile_seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return state_;
}

void Compilation::add_updates() {
  for (const auto& [shared, value] : options_.updates) outputs_.push_back(value);
}

void Compilation::place() {
  std::vector<std::optional<Device>> targets(outputs_.size());
  for (std::size_t i = 0; i < options_.updates.size(); ++i)
    targets[output_count_ + i] = options_.updates[i].first.container()->device();
  outputs_ = placed(outputs_, given_, device_, targets);
}

void Compilation::rewrite() {
  RewriteGraph graph{std::move(outputs_), given_, mutable_, device_, {}};
  state_->rewrites = run_rewrites(options_.name, options_.mode, graph);
  outputs_ = protect(graph.outputs, given_, mutable_);
}

void Compilation::order_nodes() {
  nodes_ = nodes_for(outputs_, given_);
  const std::vector<Before> edges = readers_first(nodes_, given_);
  nodes_ = reorder(nodes_, edges);
  readers_first_ = edges.empty() ? edges : readers_first(nodes_, given_);
}

void Compilation::make_result_slots() {
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const Variable& output = outputs_[i];
    const bool is_leaf = output.owner() == nullptr || given_.contains(output);
    const bool is_borrowed = i < options_.borrowed_outputs.size() && options_.borrowed_outputs[i];
    state_->result_slots.push_back({cell_of(output), is_leaf, is_borrowed});
  }
  for (std::size_t i = 0; i < options_.updates.size(); ++i) {
    const Variable& shared = options_.updates[i].first;
    state_->updates.emplace_back(shared, outputs_[output_count_ + i]);
    state_->updated.emplace_back(shared.container());
  }
  state_->locking_order.assign(state_->updated.begin(), state_->updated.end());
  std::sort(state_->locking_order.begin(), state_->locking_order.end(),
            [](const auto& a, const auto& b) { return a.get() < b.get(); });
}

// Rank-0 variables that a node or the caller needs on the function's device. Other rank-0 inputs
// may stay on the host: transferring a number that an index or a kernel takes by value would be
// wasted.
VariableSet Compilation::numbers_needed_there() const {
  VariableSet needed(outputs_.begin(), outputs_.end());
  for (const Ref<Apply>& node : nodes_) {
    const auto inputs = node->inputs();
    const bool has_axes = std::any_of(inputs.begin(), inputs.end(), [](const Variable& input) {
      return input.type().rank() > 0;
    });
    if (!node->op().takes_host_scalars() || !has_axes) needed.insert(inputs.begin(), inputs.end());
  }
  return needed;
}

void Compilation::make_input_slots() {
  state_->has_mutable_inputs = !mutable_.empty();
  const VariableSet needed_there = device_ == cpu ? VariableSet() : numbers_needed_there();
  for (const Variable& input : inputs_) {
    const Ref<Cell> cell = make_ref<Cell>();
    cell->computed = true;
    cells_.emplace(input, cell);
    const TensorType& type = input.type();
    state_->input_slots.push_back(
        {cell, type, type.device().value_or(device_), input.label(), type.has_fixed_extents(),
         mutable_.contains(input),
         type.rank() == 0 && !type.device() && device_ != cpu && !needed_there.contains(input)});
  }
}

const Ref<Cell>& Compilation::cell_of(const Variable& variable) {
  const auto found = cells_.find(variable);
  if (found != cells_.end()) return found->second;
  Ref<Cell> cell = variable.owner() == nullptr ? leaf_cell(variable) : make_ref<Cell>();
  return cells_.emplace(variable, std::move(cell)).first->second;
}

Ref<Cell> Compilation::leaf_cell(const Variable& variable) {
  if (SharedValue* shared = variable.container()) {
    Ref<Cell> cell = make_ref<Cell>();
    cell->computed = true;
    state_->shared_slots.push_back({cell, Ref<SharedValue>(shared)});
    return cell;
  }
  if (variable.value() == nullptr) fail_missing(variable);
  Ref<Cell> cell = make_ref<Cell>();
  // Read-only, since a thunk that writes to a constant would change every later call.
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

Step Compilation::make_step(const Ref<Apply>& node) {
  Step step{node, nullptr, {}, {}, device_of(*node, device_)};
  std::vector<bool> recyclable;
  for (const Variable& input : node->inputs()) step.inputs.push_back(cell_of(input));
  for (const Variable& output : node->outputs()) {
    step.outputs.push_back(cell_of(output));
    recyclable.push_back(!escaping_.contains(output));
  }
  const ThunkContext context(*node, step.device, step.inputs, step.outputs, std::move(recyclable));
  try {
    step.thunk = node->op().make_thunk(context);
    if (step.thunk == nullptr) fail<GraphError>(node->op().name(), ": make_thunk gave no thunk");
  } catch (...) {
    rethrow_with_note([&] { return note_on_compile(options_.name, *node); });
  }
  return step;
}

void Compilation::plan_results(const std::vector<Step>& steps) {
  if (frees_) {
    releases_ = plan_releases(nodes_, output_cells(steps), {outputs_.begin(), outputs_.end()});
    return;
  }
  plan_ = plan_memory(nodes_, output_cells(steps), kept_, given_);
  if (options_.preallocate) preallocate();
}

// Allocates the kept results of fixed shape that do not reuse an earlier result's buffer.
void Compilation::preallocate() {
  std::unordered_set<const Cell*> given;
  for (const BufferReuse& handover : plan_.reuses) given.insert(handover.to);
  for (const KeptResult& result : kept_) {
    const TensorType& type = result.variable.type();
    if (type.has_fixed_shape() && !given.contains(result.cell))
      result.cell->value = empty(type.shape(), type.dtype(), result.device);
  }
}

// Sorts cells into transient_cells and kept_cells; kept are intermediate results that neither view
// nor overwrite an input and are not returned.
void Compilation::sort_cells(const std::vector<Step>& steps) {
  for (const InputSlot& slot : state_->input_slots) state_->transient_cells.push_back(slot.cell);
  for (const SharedSlot& slot : state_->shared_slots) state_->transient_cells.push_back(slot.cell);
  for (std::size_t position = 0; position < steps.size(); ++position) {
    const Step& step = steps[position];
    const AliasMap views = step.node->op().view_map(), overwrites = step.node->op().destroy_map();
    for (int i = 0; i < step.node->output_count(); ++i) {
      const bool stays = !frees_ && !escaping_.contains(step.node->output(i)) &&
                         !views.contains(i) && !overwrites.contains(i);
      const Ref<Cell>& cell = step.outputs[static_cast<std::size_t>(i)];
      (stays ? state_->kept_cells : state_->transient_cells).push_back(cell);
      if (stays) kept_.push_back({step.node->output(i), cell.get(), position, step.device});
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
