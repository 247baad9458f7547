// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <chrono>
#include <mutex>

#include "core/string_utils.hpp"
#include "graph/function_state.hpp"
#include "graph/owned_mutex.hpp"
#include "graph/step_diagnostics.hpp"
#include "spanwise/core/device.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/graph/function.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/profiler_range.hpp"

// Calls of a compiled function: its inputs, its results and the shared variables that it updates.
namespace spanwise::graph {
namespace {

[[noreturn, gnu::cold]] void fail_input(const FunctionState& function, std::size_t index,
                                        const Array& got) {
  const InputSlot& slot = function.input_slots[index];
  // Without a device: an array on another device is copied, so that is no mismatch.
  const TensorType type(slot.type.dtype(), slot.type.shape());
  fail<InputError>("Bad input argument to function ", function.name, " at index ", index,
                   " (0-based), ", slot.label, " of ", slot.type, ": ",
                   type.mismatch(got).value_or(""));
}

bool matches(const InputSlot& slot, const Array& value) {
  if (value.dtype() != slot.type.dtype() || value.rank() != slot.type.rank()) return false;
  return !slot.has_fixed_extents || TensorType(slot.type.dtype(), slot.type.shape()).matches(value);
}

// Whether the thunks accept `value` on the device where it is.
bool is_on_accepted_device(const Array& value, const InputSlot& slot) noexcept {
  return value.device() == slot.device || (slot.may_stay_on_host && value.device() == cpu);
}

bool share_memory(const Array& a, const Array& b) {
  return a.size() > 0 && b.size() > 0 && may_share_memory(a, b);
}

}  // namespace

std::vector<Array> FunctionState::call(std::span<const Array> arguments, std::span<Array> buffers) {
  const CallLock call_lock(mutex_, name);
  const UpdateLock update_lock(locking_order, name);
  return run(arguments, buffers);
}

std::optional<std::vector<Array>> FunctionState::call_at_once(std::span<const Array> arguments) {
  // A shared value on the host would wait for its update.
  const auto is_on_host = [](const Ref<SharedValue>& shared) {
    return runs_on_host(shared->device());
  };
  if (!program.is_async() || std::ranges::any_of(updated, is_on_host) ||
      !std::ranges::equal(arguments, input_slots, is_on_accepted_device) || !mutex_.try_lock())
    return std::nullopt;
  const std::lock_guard call_lock(mutex_, std::adopt_lock);
  const UpdateLock update_lock(locking_order, std::try_to_lock);
  if (!update_lock.holds_all()) return std::nullopt;
  return run(arguments);
}

// The calling thread holds mutex_.
std::vector<Array> FunctionState::run(std::span<const Array> arguments, std::span<Array> buffers) {
  struct Cleaner {
    FunctionState& function;
    ~Cleaner() { function.clear_cells(); }
  } const cleaner{*this};
  std::vector<Array> original_arguments;  // copies, since run() may overwrite mutable inputs
  if (unrewritten)
    for (const Array& argument : arguments) original_arguments.push_back(copy(argument));
  load_inputs(arguments);
  if (!buffers.empty()) load_buffers(buffers);
  if (!shared_slots.empty()) load_shared_values();
  if (has_mutable_inputs) resolve_aliases();
  if (specialised == nullptr || !buffers.empty())
    return run_loaded(original_arguments, !buffers.empty());
  if (FunctionState* const function = specialised->find(*this)) return run_specialised(*function);
  if (!specialised->measures()) return run_loaded(original_arguments, false);
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  std::vector<Array> results = run_loaded(original_arguments, false);
  specialised->add_time(*this, Clock::now() - start);
  return results;
}

// The call whose inputs and shared values are in the cells; `originals` are copies of its inputs in
// mode "debug".
std::vector<Array> FunctionState::run_loaded(std::span<const Array> originals, bool has_buffers) {
  const runtime::ProfilerRange range(name);
  if (recorded_calls && !has_buffers)
    if (std::optional<std::vector<Array>> results = recorded_calls->run(*this))
      return *std::move(results);
  if (times != nullptr) times->begin_call();
  program.run();
  std::vector<Array> results = collect_results();
  if (unrewritten) check_rewrites(originals, results);
  if (!updated.empty()) commit(results);
  if (times != nullptr) times->end_call();
  return results;
}

// The calling thread holds the mutex of the only function that calls `function`, and the locks of
// the shared variables that both update. The cells keep nothing: a reference to a shared value
// would prevent `function` from writing to its memory.
std::vector<Array> FunctionState::run_specialised(FunctionState& function) {
  std::vector<Array> arguments;
  arguments.reserve(input_slots.size());
  for (const InputSlot& slot : input_slots) {
    arguments.push_back(*std::move(slot.cell->value));
    slot.cell->value.reset();
  }
  for (const SharedSlot& slot : shared_slots) slot.cell->value.reset();
  return function.run(arguments);
}

std::optional<FunctionProfile> FunctionState::profile() {
  if (times == nullptr) return std::nullopt;
  const CallLock call_lock(mutex_, name);
  return times->profile(program.steps());
}

std::int64_t FunctionState::repeated_calls() {
  const CallLock call_lock(mutex_, name);
  return (recorded_calls ? recorded_calls->repeats() : 0) +
         (specialised ? specialised->repeated_calls() : 0);
}

std::vector<StepSpan> FunctionState::spans() {
  if (times == nullptr) return {};
  const CallLock call_lock(mutex_, name);
  return times->spans();
}

void FunctionState::free() {
  const CallLock call_lock(mutex_, name);
  for (const Ref<Cell>& cell : kept_cells) cell->value.reset();
  if (recorded_calls) recorded_calls->clear();
  if (specialised) specialised->clear();
}

void FunctionState::load_inputs(std::span<const Array> arguments) {
  if (arguments.size() != input_slots.size()) [[unlikely]]
    fail<InputError>("function ", name, ": expected ", input_slots.size(), " inputs, got ",
                     arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const InputSlot& slot = input_slots[i];
    const Array& argument = arguments[i];
    if (!matches(slot, argument)) [[unlikely]]
      fail_input(*this, i, argument);
    if (is_on_accepted_device(argument, slot)) [[likely]]
      slot.cell->value = argument;
    else
      slot.cell->value = to_device(argument, slot.device);
  }
}

// Moves the buffers to the cells of the outputs, where thunks look for an array to reuse.
void FunctionState::load_buffers(std::span<Array> buffers) {
  if (buffers.size() != result_slots.size() - updated.size())
    fail<ArgumentError>("function ", name, ": expected ", result_slots.size() - updated.size(),
                        " buffers, one for each output, got ", buffers.size());
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const ResultSlot& slot = result_slots[i];
    if (!slot.is_leaf) slot.cell->value = std::move(buffers[i]);
  }
}

// Copies mutable inputs that share memory with another input or shared value, or are read-only.
void FunctionState::resolve_aliases() {
  for (const InputSlot& slot : input_slots) {
    if (!slot.is_mutable) continue;
    Array& value = *slot.cell->value;
    const auto shares = [&](const auto& other) {
      return other.cell != slot.cell && share_memory(value, *other.cell->value);
    };
    const bool is_shared =
        std::ranges::any_of(input_slots, shares) || std::ranges::any_of(shared_slots, shares);
    if (is_shared || value.readonly()) value = copy(value);
  }
}

void FunctionState::load_shared_values() {
  const SharedAccess access;
  for (const SharedSlot& slot : shared_slots) slot.cell->value = access.value(*slot.shared);
}

// Elements that are infinite or NaN in the unrewritten graph are not compared: a rewrite may make
// them finite, for example by avoiding an overflow.
void FunctionState::check_rewrites(std::span<const Array> arguments,
                                   std::span<const Array> results) const {
  const std::vector<Array> expected = (*unrewritten)(arguments);
  double largest = 0;
  for (const Array& argument : arguments) largest = std::max(largest, largest_number(argument));
  int bits = 64;
  for (const Step& step : program.steps())
    for (const Variable& value : step.node->outputs())
      if (value.type().dtype().is_floating())
        bits = std::min<int>(bits, value.type().dtype().bits());
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (have_same_values(results[i], expected[i], largest, true, bits)) continue;
    std::vector<std::string_view> applied;
    for (const RewriteReport& report : rewrites)
      if (report.changes > 0) applied.push_back(report.name);
    const std::size_t count = results.size() - updated.size();
    fail<GraphError>(
        "function ", name, ": ", i < count ? "output " : "update ", i < count ? i : i - count,
        " differs from that of the graph without rewrites. Applied rewrites: ", joined(applied),
        ". Exclude one at a time with mode=Mode(...).excluding(name) to find the wrong one");
  }
}

// Replaces all shared values atomically, after every step that may throw. The old values, in
// `results`, are released after unlocking.
void FunctionState::commit(std::vector<Array>& results) {
  const std::size_t first = results.size() - updated.size();
  for (std::size_t i = 0; i < updated.size(); ++i) {
    updated[i]->check(results[first + i]);
    results[first + i] = to_device(results[first + i], updated[i]->device());
  }
  if (recorded_calls) recorded_calls->note_updates(std::span(results).subspan(first));
  {
    SharedAccess access;
    for (std::size_t i = 0; i < updated.size(); ++i)
      access.exchange(*updated[i], results[first + i]);
  }
  results.resize(first);
}

// The caller may write to a result, so one that shares memory with anything else, or is read-only
// (as a broadcast array is), is copied.
std::vector<Array> FunctionState::collect_results() {
  std::vector<Array> results;
  results.reserve(result_slots.size());
  for (const ResultSlot& slot : result_slots) {
    Cell& cell = *slot.cell;
    if (slot.is_leaf) {
      results.push_back(slot.is_borrowed ? *cell.value : copy(*cell.value));
    } else if (cell.value) {
      Array& result = *cell.value;
      if (!slot.is_borrowed && (result.readonly() || shares_memory(result, results)))
        results.push_back(copy(result));
      else
        results.push_back(std::move(result));
      cell.value.reset();
    } else {  // the same variable is an earlier output
      const auto first = std::ranges::find(result_slots, slot.cell, &ResultSlot::cell);
      results.push_back(copy(results[static_cast<std::size_t>(first - result_slots.begin())]));
    }
  }
  return results;
}

bool FunctionState::shares_memory(const Array& result, std::span<const Array> earlier) const {
  const auto shares_with = [&](const Ref<Cell>& cell) {
    return cell->value && share_memory(result, *cell->value);
  };
  const auto is_shared = [&](const Array& other) { return share_memory(result, other); };
  return std::ranges::any_of(earlier, is_shared) ||
         std::ranges::any_of(input_slots, shares_with, &InputSlot::cell) ||
         std::ranges::any_of(shared_slots, shares_with, &SharedSlot::cell) ||
         std::ranges::any_of(constant_cells, shares_with);
}

// Called after every call, also a failed one. Releases kept buffers that something else references
// (a result, the caller or another cell), since the next call would overwrite them.
void FunctionState::clear_cells() noexcept {
  program.return_buffers();
  for (const Ref<Cell>& cell : transient_cells) cell->value.reset();
  for (const Ref<Cell>& cell : kept_cells)
    if (cell->value && cell->value->storage().use_count() > 1) cell->value.reset();
}

}  // namespace spanwise::graph

namespace spanwise {
namespace {

graph::FunctionState& state_of(const Ref<RefCounted>& state) noexcept {
  return static_cast<graph::FunctionState&>(*state);
}

}  // namespace

CompiledFunction::CompiledFunction(Ref<RefCounted> state) noexcept : state_(std::move(state)) {}

std::vector<Array> CompiledFunction::operator()(std::span<const Array> inputs) const {
  return state_of(state_).call(inputs);
}

std::vector<Array> CompiledFunction::call_with_buffers(std::span<const Array> inputs,
                                                       std::vector<Array> buffers) const {
  return state_of(state_).call(inputs, buffers);
}

std::optional<std::vector<Array>> CompiledFunction::call_at_once(
    std::span<const Array> inputs) const {
  return state_of(state_).call_at_once(inputs);
}

const std::string& CompiledFunction::name() const noexcept { return state_of(state_).name; }
Device CompiledFunction::device() const noexcept { return state_of(state_).device; }
const std::vector<Variable>& CompiledFunction::inputs() const noexcept {
  return state_of(state_).inputs;
}
const std::vector<Variable>& CompiledFunction::outputs() const noexcept {
  return state_of(state_).outputs;
}

const std::vector<std::pair<Variable, Variable>>& CompiledFunction::updates() const noexcept {
  return state_of(state_).updates;
}
const std::vector<RewriteReport>& CompiledFunction::rewrites() const noexcept {
  return state_of(state_).rewrites;
}
const std::string& CompiledFunction::mode() const noexcept { return state_of(state_).mode; }

bool CompiledFunction::is_profiled() const noexcept { return state_of(state_).times != nullptr; }
std::optional<FunctionProfile> CompiledFunction::profile() const {
  return state_of(state_).profile();
}
std::vector<StepSpan> CompiledFunction::spans() const { return state_of(state_).spans(); }
double CompiledFunction::compile_seconds() const noexcept {
  return state_of(state_).compile_seconds;
}
std::int64_t CompiledFunction::repeated_calls() const { return state_of(state_).repeated_calls(); }

std::vector<Ref<Apply>> CompiledFunction::toposort() const {
  std::vector<Ref<Apply>> nodes;
  for (const graph::Step& step : state_of(state_).program.steps()) nodes.push_back(step.node);
  return nodes;
}

void CompiledFunction::free() const { state_of(state_).free(); }

}  // namespace spanwise
