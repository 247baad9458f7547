// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <chrono>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "graph/function_state.hpp"
#include "graph/memory_plan.hpp"
#include "graph/rewrite_registry.hpp"
#include "graph/step_diagnostics.hpp"
#include "graph/traversal.hpp"
#include "spanwise/core/device.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/graph/function.hpp"
#include "spanwise/graph/hooks.hpp"
#include "spanwise/graph/op.hpp"
#include "spanwise/runtime/config.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/runtime/devices.hpp"

// function(): checks its arguments, rewrites and orders the graph, and makes the cells, the steps
// and the memory plan of the FunctionState.
namespace spanwise::graph {
namespace {

// Argument checks; `name` is the function's, for messages.

void check_function_inputs(const std::string& name, const std::vector<Variable>& inputs) {
  VariableSet seen;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Variable& input = inputs[i];
    if (!input) fail<GraphError>("function ", name, ": input ", i, " names no variable");
    if (input.value() != nullptr)
      fail<GraphError>("function ", name, ": input ", i, " (", input.label(),
                       ") is a constant; expected a variable without a value");
    if (input.container() != nullptr)
      fail<GraphError>("function ", name, ": input ", i, " (", input.label(),
                       ") is a shared variable, which already has a value; expected another "
                       "variable, put in its place by givens");
    if (!seen.insert(input).second)
      fail<GraphError>("function ", name, ": ", input.label(),
                       " occurs twice among the inputs, again at index ", i);
  }
}

void check_function_outputs(const std::string& name, const std::vector<Variable>& outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (!outputs[i]) fail<GraphError>("function ", name, ": output ", i, " names no variable");
}

void check_function_updates(const std::string& name, const FunctionOptions& options) {
  VariableSet seen;
  for (const auto& [shared, value] : options.updates) {
    if (!shared || !value)
      fail<GraphError>("function ", name, ": updates has a pair with no variable in it");
    if (shared.container() == nullptr)
      fail<GraphError>("function ", name, ": updates changes ", shared.label(),
                       ", which is no shared variable; make it one with shared()");
    if (!seen.insert(shared).second)
      fail<GraphError>("function ", name, ": updates changes ", shared.label(), " twice");
    if (!may_be_equal(shared.type(), value.type()))
      fail<GraphError>("function ", name, ": updates gives ", shared.label(), " of ", shared.type(),
                       " the value ", value.label(), " of ", value.type(),
                       "; expected the same dtype and axes: cast the value");
  }
}

// Throws or warns, by `how`, where no output depends on an input.
void check_used_inputs(const std::string& name, const std::vector<Variable>& inputs,
                       std::span<const Variable> outputs, UnusedInput how) {
  if (how == UnusedInput::ignore) return;
  VariableSet used(outputs.begin(), outputs.end());
  for (const Ref<Apply>& node : nodes_for(outputs, VariableSet(inputs.begin(), inputs.end())))
    used.insert(node->inputs().begin(), node->inputs().end());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (used.contains(inputs[i])) continue;
    const std::string message = text(
        "function ", name, ": no output needs the input at index ", i, ", ", inputs[i].label(),
        "; leave it out, or pass on_unused_input=\"ignore\" or \"warn\"", inputs[i].trace_note());
    if (how == UnusedInput::raise) fail<GraphError>(message);
    warn(message);
  }
}

VariableSet overwritten_variables(const std::vector<Ref<Apply>>& nodes, const VariableSet& inputs) {
  VariableSet all;
  MemoryRoots buffers(inputs, Through::views_and_overwriting);
  for (const Ref<Apply>& node : nodes)
    for (const auto& [output, overwritten_inputs] : node->op().destroy_map())
      for (const Variable& buffer : buffers.of(node->output(output)))
        if (buffer.owner() != node.get()) all.insert(buffer);
  return all;
}

// The nodes that compute few numbers on the host from constants and from the shapes of inputs and
// shared values alone, so that their results are valid as long as these shapes do not change.
// Leaves out nodes with an output in `escaping`, the variables whose buffers the function returns,
// and those whose output another node overwrites. `inputs` are those of the function; `nodes` are
// in topological order.
NodeSet shape_nodes(const std::vector<Ref<Apply>>& nodes, const VariableSet& inputs,
                    const VariableSet& escaping, Device fallback) {
  const VariableSet overwritten = overwritten_variables(nodes, inputs);
  NodeSet result;
  const auto depends_on_shapes = [&](const Apply& node, std::size_t i) {
    const Variable& input = node.inputs()[i];
    const bool is_leaf = input.owner() == nullptr || inputs.contains(input);
    if (!is_leaf) return result.contains(input.owner());
    const bool is_constant = input.value() != nullptr && !inputs.contains(input);
    return is_constant || node.op().reads_only_shape(static_cast<int>(i));
  };
  const auto stays = [&](const Variable& output) {
    return !escaping.contains(output) && !overwritten.contains(output);
  };
  for (const Ref<Apply>& node : nodes) {
    bool reads_shapes = node->op().destroy_map().empty() && node->op().foldable(*node) &&
                        device_of(*node, fallback).is_cpu() && outputs_are_few_numbers(*node);
    for (std::size_t i = 0; i < node->inputs().size() && reads_shapes; ++i)
      reads_shapes = depends_on_shapes(*node, i);
    const auto outputs = node->outputs();
    if (reads_shapes && std::ranges::all_of(outputs, stays)) result.insert(node.get());
  }
  return result;
}

// Moves the inputs of nodes to the nodes' devices.
class Placement {
 public:
  Placement(const VariableSet& inputs, Device fallback) : inputs_(inputs), fallback_(fallback) {}

  void visit(const Apply& node) {
    std::vector<Variable> inputs = rebuild_.current(node.inputs());
    if (const auto target = transfer_target(node.op())) {
      if (device(inputs[0]) == *target)
        rebuild_.replace(node.output(0), inputs[0]);
      else
        rebuild_.visit_as_is(node, std::move(inputs));
      return;
    }
    const Device target = device_of(node, fallback_);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const bool is_read = !node.op().reads_only_shape(static_cast<int>(i));
      if (is_read && !may_stay(node, inputs[i])) inputs[i] = moved_to(target, inputs[i]);
    }
    rebuild_.visit_as_is(node, std::move(inputs));
  }

  // `variable` on device `target`, with one transfer shared by all readers there.
  Variable moved_to(Device target, const Variable& variable) {
    if (device(variable) == target) return variable;
    auto& copies = moved_[variable];
    for (const auto& [device, copy] : copies)
      if (device == target) return copy;
    const Variable copy = (*transfer_op(target))(std::span(&variable, 1))[0];
    copies.emplace_back(target, copy);
    return copy;
  }

  const Variable& current(const Variable& variable) const { return rebuild_.current(variable); }

 private:
  Device device(const Variable& variable) const { return device_of(variable, inputs_, fallback_); }
  bool may_stay(const Apply& node, const Variable& input) const {
    return input.type().rank() == 0 && device(input) == cpu && node.op().takes_host_scalars();
  }

  const VariableSet& inputs_;
  Device fallback_;
  Rebuild rebuild_;
  std::unordered_map<Variable, std::vector<std::pair<Device, Variable>>> moved_;
};

// Rebuilds the graph so that every node's inputs are on the node's device, inserting the necessary
// transfers. A transfer written by the user is removed if its input is on the target already.
// `targets`: the required device of each output, if any. Returns the outputs of the new graph.
std::vector<Variable> placed(std::span<const Variable> outputs, const VariableSet& inputs,
                             Device fallback, std::span<const std::optional<Device>> targets) {
  Placement placement(inputs, fallback);
  for (const Ref<Apply>& node : nodes_for(outputs, inputs)) placement.visit(*node);
  std::vector<Variable> result;
  result.reserve(outputs.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Variable& output = placement.current(outputs[i]);
    result.push_back(targets[i] ? placement.moved_to(*targets[i], output) : output);
  }
  return result;
}

// The compilation of one function.
class Compilation {
 public:
  Compilation(std::vector<Variable> inputs, std::vector<Variable> outputs, FunctionOptions options);

  Ref<FunctionState> run();

 private:
  void build_graph();
  void build_program();
  const Ref<Cell>& cell_of(const Variable& variable);
  Ref<Cell> leaf_cell(const Variable& variable);
  [[noreturn]] void fail_missing(const Variable& leaf) const;
  CompiledFunction without_rewrites() const;
  void place_on_devices();
  void rewrite();
  void order_nodes();
  void put_host_nodes_first();
  VariableSet scalars_needed_on_device() const;
  bool may_stay_on_host(const Variable& variable) const;
  bool may_be_specialised() const;
  void make_input_slots();
  void make_result_slots();
  bool runs_in_order(const std::vector<Step>& steps) const;
  Step make_step(const Ref<Apply>& node);
  void sort_cells(const std::vector<Step>& steps);
  void plan_results(const std::vector<Step>& steps, RunOptions& how, bool is_in_order);
  void preallocate(const MemoryPlan& plan);

  FunctionOptions options_;
  Device device_;
  std::vector<Variable> inputs_;
  VariableSet input_set_, mutable_inputs_;
  // the function's outputs, then the new values of shared variables
  std::vector<Variable> outputs_, unplaced_outputs_;
  std::size_t output_count_;
  std::vector<Ref<Apply>> nodes_;
  std::vector<OrderEdge> readers_first_;
  VariableSet escaping_;  // variables whose buffers the function returns
  NodeSet shape_nodes_;
  VariableSet needed_on_device_;  // scalars_needed_on_device()
  std::unordered_map<Variable, Ref<Cell>> cells_;
  std::vector<KeptResult> kept_;
  bool allow_gc_ = false;
  Ref<FunctionState> state_ = make_ref<FunctionState>();
};

std::vector<std::vector<Ref<Cell>>> output_cells(const std::vector<Step>& steps) {
  std::vector<std::vector<Ref<Cell>>> cells;
  cells.reserve(steps.size());
  for (const Step& step : steps) cells.push_back(step.outputs);
  return cells;
}

Compilation::Compilation(std::vector<Variable> inputs, std::vector<Variable> outputs,
                         FunctionOptions options)
    : options_(std::move(options)),
      device_(options_.device ? *options_.device : default_device()),
      inputs_(std::move(inputs)),
      input_set_(inputs_.begin(), inputs_.end()),
      mutable_inputs_(options_.mutable_inputs.begin(), options_.mutable_inputs.end()),
      outputs_(std::move(outputs)),
      output_count_(outputs_.size()) {
  if (options_.name.empty()) options_.name = "<unnamed>";
  allow_gc_ = options_.allow_gc ? *options_.allow_gc : config::get_bool("allow_gc");
  if (allow_gc_ && options_.preallocate)
    fail<GraphError>("function ", options_.name,
                     ": preallocate keeps memory between calls, and allow_gc releases it; "
                     "expected one of the two");
}

Ref<FunctionState> Compilation::run() {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  build_graph();
  build_program();
  state_->compile_seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return state_;
}

// Checks and rewrites the graph, and orders its nodes.
void Compilation::build_graph() {
  check_function_inputs(options_.name, inputs_);
  check_function_outputs(options_.name, outputs_);
  check_function_updates(options_.name, options_);
  state_->mode = mode_name(options_.mode.name);
  if (state_->mode == "debug") state_->unrewritten = without_rewrites();
  for (const auto& [shared, value] : options_.updates) outputs_.push_back(value);
  outputs_ = apply_givens(outputs_, options_.givens, inputs_);
  check_used_inputs(options_.name, inputs_, outputs_, options_.on_unused_input);
  unplaced_outputs_ = outputs_;
  place_on_devices();
  rewrite();
  MemoryRoots buffers(input_set_, Through::views_and_overwriting);
  for (const Variable& output : outputs_)
    for (const Variable& buffer : buffers.of(output)) escaping_.insert(buffer);
  escaping_.insert(outputs_.begin(), outputs_.end());
  order_nodes();
}

// Makes the cells and thunks of the nodes, and plans the memory of their results.
void Compilation::build_program() {
  make_input_slots();
  make_result_slots();
  std::vector<Step> steps;
  steps.reserve(nodes_.size());
  for (const Ref<Apply>& node : nodes_) steps.push_back(make_step(node));
  const bool is_in_order = runs_in_order(steps);
  if (!is_in_order) shape_nodes_.clear();
  sort_cells(steps);
  RunOptions how;
  plan_results(steps, how, is_in_order);
  how.runs_twice = state_->mode == "debug";
  if (state_->mode == "nan_guard") how.guard = options_.mode.nan_guard;
  if (options_.profile) {
    state_->times = std::make_unique<StepTimes>(nodes_.size());
    how.times = state_->times.get();
  }
  how.shape_nodes = shape_nodes_;
  std::vector<Cell*> results;
  for (const ResultSlot& slot : state_->result_slots) results.push_back(slot.cell.get());
  state_->name = options_.name;
  state_->device = device_;
  state_->inputs = inputs_;
  state_->outputs.assign(outputs_.begin(), outputs_.begin() + static_cast<long>(output_count_));
  state_->program =
      Program(options_.name, std::move(steps), readers_first_, results, std::move(how));
  if (may_be_specialised()) {
    FunctionOptions options = options_;  // settings may be others when it is compiled again
    options.device = device_;
    options.mode.name = state_->mode;
    options.allow_gc = allow_gc_;
    state_->specialised = std::make_unique<SpecialisedFunctions>(
        inputs_, std::move(unplaced_outputs_), std::move(options));
  }
  const auto is_of_steps = [](const ResultSlot& slot) {
    return !slot.is_leaf && !slot.is_borrowed;
  };
  if (!runs_on_host(device_) && !allow_gc_ && mutable_inputs_.empty() &&
      state_->program.is_recordable() && std::ranges::all_of(state_->result_slots, is_of_steps))
    state_->recorded_calls = std::make_unique<RecordedCalls>();
}

// The rewrites for numerical stability are kept, since they change values on purpose.
CompiledFunction Compilation::without_rewrites() const {
  std::vector<Variable> outputs = outputs_;
  for (const auto& [shared, value] : options_.updates) outputs.push_back(value);
  FunctionOptions options;
  options.name = options_.name + " without rewrites";
  options.device = device_;
  options.givens = options_.givens;
  options.on_unused_input = UnusedInput::ignore;
  options.mode = {"fast_compile", {"stabilize"}, options_.mode.excluding};
  return function(inputs_, std::move(outputs), std::move(options));
}

void Compilation::place_on_devices() {
  std::vector<std::optional<Device>> targets(outputs_.size());
  for (std::size_t i = 0; i < options_.updates.size(); ++i)
    targets[output_count_ + i] = options_.updates[i].first.container()->device();
  outputs_ = placed(outputs_, input_set_, device_, targets);
}

void Compilation::rewrite() {
  RewriteGraph graph{std::move(outputs_), input_set_, mutable_inputs_, device_, {}};
  state_->rewrites = run_rewrites(options_.name, options_.mode, graph);
  outputs_ = protect(graph.outputs, input_set_, mutable_inputs_);
}

void Compilation::order_nodes() {
  nodes_ = nodes_for(outputs_, input_set_);
  if (!runs_on_host(device_)) put_host_nodes_first();
  if (!allow_gc_ && !options_.profile)
    shape_nodes_ = shape_nodes(nodes_, input_set_, escaping_, device_);
  const auto reads_shapes = [this](const Ref<Apply>& node) {
    return shape_nodes_.contains(&*node);
  };
  std::stable_partition(nodes_.begin(), nodes_.end(), reads_shapes);
  const auto order_edges = [this] {
    std::vector<OrderEdge> edges = readers_first(nodes_, input_set_);
    for (const OrderEdge& edge : sequences(nodes_)) edges.push_back(edge);
    return edges;
  };
  const std::vector<OrderEdge> edges = order_edges();
  nodes_ = reorder(nodes_, edges);
  readers_first_ = edges.empty() ? edges : order_edges();  // by the new positions
}

// Nodes on the host that need no result of a GPU come first, so that they do not separate launches
// that could be one batch.
void Compilation::put_host_nodes_first() {
  std::vector<Ref<Apply>> early, late;
  std::unordered_set<const Apply*> is_late;
  for (const Ref<Apply>& node : nodes_) {
    const auto inputs = node->inputs();
    const bool is_early = device_of(*node, device_).is_cpu() && node->op().destroy_map().empty() &&
                          node->op().foldable(*node) &&
                          std::ranges::none_of(inputs, [&](const Variable& input) {
                            return is_late.contains(input.owner());
                          });
    if (!is_early) is_late.insert(node.get());
    (is_early ? early : late).push_back(node);
  }
  early.insert(early.end(), late.begin(), late.end());
  nodes_ = std::move(early);
}

bool Compilation::runs_in_order(const std::vector<Step>& steps) const {
  const bool is_checked = state_->mode == "debug" || state_->mode == "nan_guard";
  return !is_checked &&
         std::ranges::none_of(steps, [](const Step& step) { return step.thunk->lazy(); });
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

void Compilation::plan_results(const std::vector<Step>& steps, RunOptions& how, bool is_in_order) {
  if (allow_gc_) {
    how.releases = plan_releases(nodes_, output_cells(steps), {outputs_.begin(), outputs_.end()});
    return;
  }
  if (is_in_order) how.plan = plan_memory(nodes_, output_cells(steps), kept_, input_set_);
  if (options_.preallocate) preallocate(how.plan);
}

// Allocates the kept results of fixed shape that do not reuse an earlier result's buffer.
void Compilation::preallocate(const MemoryPlan& plan) {
  std::unordered_set<const Cell*> reusing;
  for (const BufferReuse& reuse : plan.reuses) reusing.insert(reuse.to);
  for (const KeptResult& result : kept_) {
    const TensorType& type = result.variable.type();
    if (type.has_fixed_shape() && !reusing.contains(result.cell))
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
    if (shape_nodes_.contains(&*step.node)) continue;  // its results stay for the next call
    const AliasMap views = step.node->op().view_map(), overwrites = step.node->op().destroy_map();
    for (int i = 0; i < step.node->output_count(); ++i) {
      const bool stays = !allow_gc_ && !escaping_.contains(step.node->output(i)) &&
                         !views.contains(i) && !overwrites.contains(i);
      const Ref<Cell>& cell = step.outputs[static_cast<std::size_t>(i)];
      (stays ? state_->kept_cells : state_->transient_cells).push_back(cell);
      if (stays) kept_.push_back({step.node->output(i), cell.get(), position, step.device});
    }
  }
}

// Cells and slots: where a compiled function reads its inputs, constants and shared variables, and
// where it finds its results.

void Compilation::make_result_slots() {
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const Variable& output = outputs_[i];
    const bool is_leaf = output.owner() == nullptr || input_set_.contains(output);
    const bool is_borrowed = i < options_.borrowed_outputs.size() && options_.borrowed_outputs[i];
    state_->result_slots.push_back({cell_of(output), is_leaf, is_borrowed});
  }
  for (std::size_t i = 0; i < options_.updates.size(); ++i) {
    const Variable& shared = options_.updates[i].first;
    state_->updates.emplace_back(shared, outputs_[output_count_ + i]);
    state_->updated.emplace_back(shared.container());
  }
  state_->locking_order.assign(state_->updated.begin(), state_->updated.end());
  std::ranges::sort(state_->locking_order,
                    [](const auto& a, const auto& b) { return a.get() < b.get(); });
}

// Variables that a node or the caller needs on the function's device; only those of rank 0 are
// looked up. Other rank-0 inputs and constants may stay on the host: transferring a number that an
// index or a kernel takes by value would be wasted, and so would reading it back for a node that
// runs on the host. A node whose inputs all have rank 0 needs them on the device, since its output
// may be a view of one of them (reshape, ifelse).
VariableSet Compilation::scalars_needed_on_device() const {
  VariableSet needed(outputs_.begin(), outputs_.end());
  for (const Ref<Apply>& node : nodes_) {
    if (device_of(*node, device_) == cpu) continue;
    const auto inputs = node->inputs();
    const bool has_axes =
        std::ranges::any_of(inputs, [](const Variable& input) { return input.type().rank() > 0; });
    if (!node->op().takes_host_scalars() || !has_axes) needed.insert(inputs.begin(), inputs.end());
  }
  return needed;
}

void Compilation::make_input_slots() {
  state_->has_mutable_inputs = !mutable_inputs_.empty();
  if (device_ != cpu) needed_on_device_ = scalars_needed_on_device();
  for (const Variable& input : inputs_) {
    const Ref<Cell> cell = make_ref<Cell>();
    cell->computed = true;
    cells_.emplace(input, cell);
    const TensorType& type = input.type();
    state_->input_slots.push_back({cell, type, type.device().value_or(device_), input.label(),
                                   type.has_fixed_extents(), mutable_inputs_.contains(input),
                                   may_stay_on_host(input)});
  }
}

// Whether compiling for fixed shapes may give another program. Ops without a recipe may depend on
// how often their nodes are made.
bool Compilation::may_be_specialised() const {
  constexpr std::size_t min_nodes = 8;  // a check of the shapes costs as much as a short node
  const auto is_open = [](const Variable& variable) { return !variable.type().has_fixed_shape(); };
  const bool is_checked = state_->mode == "debug" || state_->mode == "nan_guard";
  return nodes_.size() >= min_nodes && !is_checked && !options_.profile &&
         mutable_inputs_.empty() && !options_.preallocate && SpecialisedFunctions::is_enabled() &&
         (std::ranges::any_of(inputs_, is_open) ||
          std::ranges::any_of(cells_,
                              [&](const auto& cell) {
                                return cell.first.container() != nullptr && is_open(cell.first);
                              })) &&
         std::ranges::all_of(nodes_for(unplaced_outputs_, input_set_),
                             [](const Ref<Apply>& node) { return node->op().recipe() != nullptr; });
}

// Of an input or a constant.
bool Compilation::may_stay_on_host(const Variable& variable) const {
  return variable.type().rank() == 0 && !variable.type().device() && device_ != cpu &&
         !needed_on_device_.contains(variable);
}

const Ref<Cell>& Compilation::cell_of(const Variable& variable) {
  const auto entry = cells_.find(variable);
  if (entry != cells_.end()) return entry->second;
  Ref<Cell> cell = variable.owner() == nullptr ? leaf_cell(variable) : make_ref<Cell>();
  return cells_.emplace(variable, std::move(cell)).first->second;
}

Ref<Cell> Compilation::leaf_cell(const Variable& variable) {
  Ref<Cell> cell = make_ref<Cell>();
  cell->computed = true;
  if (SharedValue* shared = variable.container()) {
    state_->shared_slots.push_back({cell, Ref<SharedValue>(shared)});
    return cell;
  }
  if (variable.value() == nullptr) fail_missing(variable);
  // Read-only, since a thunk that writes to a constant would change every later call.
  const Device device =
      may_stay_on_host(variable) ? cpu : variable.type().device().value_or(device_);
  cell->value = to_device(*variable.value(), device).as_readonly();
  state_->constant_cells.push_back(cell);
  return cell;
}

void Compilation::fail_missing(const Variable& leaf) const {
  std::string reader = "an output";
  for (const Ref<Apply>& node : nodes_) {
    const auto inputs = node->inputs();
    if (std::ranges::find(inputs, leaf) != inputs.end()) reader = node->label();
  }
  fail<GraphError>("function ", options_.name, ": ", leaf.label(), " of ", leaf.type(), ", which ",
                   reader,
                   " needs, is neither an input nor a constant; add it to the inputs, or "
                   "replace it through givens",
                   leaf.trace_note());
}

}  // namespace

Ref<FunctionState> compile_function(std::vector<Variable> inputs, std::vector<Variable> outputs,
                                    FunctionOptions options) {
  Compilation compilation(std::move(inputs), std::move(outputs), std::move(options));
  return compilation.run();
}

}  // namespace spanwise::graph

namespace spanwise {

CompiledFunction function(std::vector<Variable> inputs, std::vector<Variable> outputs,
                          FunctionOptions options) {
  return CompiledFunction(
      graph::compile_function(std::move(inputs), std::move(outputs), std::move(options)));
}

}  // namespace spanwise
