// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <unordered_set>
#include <utility>

#include "graph/compile/aliases.hpp"
#include "graph/compile/checks.hpp"
#include "graph/compile/compilation.hpp"
#include "graph/compile/placement.hpp"
#include "graph/compile/shape_nodes.hpp"
#include "graph/execute/failure.hpp"
#include "graph/execute/function_state.hpp"
#include "graph/order.hpp"
#include "graph/rebuild.hpp"
#include "graph/rewrites/registry.hpp"
#include "spanwise/runtime/config.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/runtime/devices.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/graph/function.hpp"
#include "spanwise/core/device.hpp"

namespace spanwise {
namespace graph {
namespace {

std::vector<std::vector<Ref<Cell>>> output_cells(const std::vector<Step>& steps) {
  std::vector<std::vector<Ref<Cell>>> cells;
  cells.reserve(steps.size());
  for (const Step& step : steps) cells.push_back(step.outputs);
  return cells;
}

}  // namespace

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
  if (options_.profile) {
    state_->times = std::make_unique<StepTimes>(nodes_.size());
    state_->program.measure(*state_->times);
  }
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
  place_on_devices();
  rewrite();
  for (const Variable& output : outputs_)
    for (const Variable& buffer : buffers_of(output, input_set_)) escaping_.insert(buffer);
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
  if (!runs_in_order(steps)) shape_nodes_.clear();
  sort_cells(steps);
  plan_results(steps);
  std::vector<Cell*> results;
  for (const ResultSlot& slot : state_->result_slots) results.push_back(slot.cell.get());
  state_->name = options_.name;
  state_->device = device_;
  state_->inputs = inputs_;
  state_->outputs.assign(outputs_.begin(), outputs_.begin() + static_cast<long>(output_count_));
  state_->program = Program(options_.name, std::move(steps), readers_first_, results);
  if (state_->mode == "debug") state_->program.check_every_step();
  if (state_->mode == "nan_guard") state_->program.guard_numbers(options_.mode.nan_guard);
  if (allow_gc_)
    state_->program.release_early(std::move(releases_));
  else if (state_->program.runs_in_order()) {
    state_->program.share_memory(std::move(plan_));
    state_->program.keep_results_of_shapes(shape_nodes_);
  }
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
  std::ranges::stable_partition(nodes_, reads_shapes);
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

void Compilation::plan_results(const std::vector<Step>& steps) {
  if (allow_gc_) {
    releases_ = plan_releases(nodes_, output_cells(steps), {outputs_.begin(), outputs_.end()});
    return;
  }
  plan_ = plan_memory(nodes_, output_cells(steps), kept_, input_set_);
  if (options_.preallocate) preallocate();
}

// Allocates the kept results of fixed shape that do not reuse an earlier result's buffer.
void Compilation::preallocate() {
  std::unordered_set<const Cell*> reusing;
  for (const BufferReuse& reuse : plan_.reuses) reusing.insert(reuse.to);
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

}  // namespace graph

CompiledFunction function(std::vector<Variable> inputs, std::vector<Variable> outputs,
                          FunctionOptions options) {
  graph::Compilation compilation(std::move(inputs), std::move(outputs), std::move(options));
  return CompiledFunction(compilation.run());
}

}  // namespace spanwise
