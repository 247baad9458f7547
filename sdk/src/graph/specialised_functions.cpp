// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "graph/specialised_functions.hpp"

#include <algorithm>
#include <exception>
#include <unordered_map>
#include <utility>

#include "graph/function_state.hpp"
#include "graph/traversal.hpp"
#include "spanwise/runtime/config.hpp"

namespace spanwise::graph {
namespace {

constexpr std::size_t max_entries = 4;
// The time of calls of one shape after which compiling for it pays, as a multiple of the time that
// compiling the function took, and at least.
constexpr double compile_times = 1.5, min_seconds = 0.02;

enum class Specialise { automatic, always, never };

[[maybe_unused]] const bool specialise_declared = config::declare(
    {.name = "specialise",
     .description = "compile functions again for the shapes of their calls: auto after calls that "
                    "took longer than compiling, always after the first call, never",
     .default_value = "auto",
     .choices = {"auto", "always", "never"}});
constinit const config::Choice specialise_setting{"specialise"};

Specialise setting() { return static_cast<Specialise>(specialise_setting.get()); }

bool have_shapes(const FunctionState& general, const std::vector<Shape>& shapes) noexcept {
  auto shape = shapes.begin();
  const auto fits = [&](const auto& slot) { return slot.cell->value->shape() == *shape++; };
  return std::ranges::all_of(general.input_slots, fits) &&
         std::ranges::all_of(general.shared_slots, fits);
}

}  // namespace

SpecialisedFunctions::Entry::Entry() = default;
SpecialisedFunctions::Entry::~Entry() = default;
SpecialisedFunctions::Entry::Entry(Entry&&) noexcept = default;
SpecialisedFunctions::Entry& SpecialisedFunctions::Entry::operator=(Entry&&) noexcept = default;

SpecialisedFunctions::SpecialisedFunctions(std::vector<Variable> inputs,
                                           std::vector<Variable> outputs, FunctionOptions options)
    : inputs_(std::move(inputs)), outputs_(std::move(outputs)), options_(std::move(options)) {}
SpecialisedFunctions::~SpecialisedFunctions() = default;

bool SpecialisedFunctions::is_enabled() { return setting() != Specialise::never; }

std::int64_t SpecialisedFunctions::repeated_calls() const {
  std::int64_t calls = released_repeats_;
  for (const Entry& entry : entries_)
    if (entry.function) calls += entry.function->repeated_calls();
  return calls;
}

void SpecialisedFunctions::clear() {
  released_repeats_ = repeated_calls();
  entries_.clear();
}

FunctionState* SpecialisedFunctions::find(const FunctionState& general) {
  const auto entry = std::ranges::find_if(
      entries_, [&](const Entry& each) { return have_shapes(general, each.shapes); });
  if (entry != entries_.end()) {
    std::rotate(entries_.begin(), entry, entry + 1);
  } else {
    if (entries_.size() == max_entries) {
      const Ref<FunctionState>& last = entries_.back().function;
      if (last) released_repeats_ += last->repeated_calls();
      entries_.pop_back();
    }
    entries_.emplace(entries_.begin());
    for (const InputSlot& slot : general.input_slots)
      entries_.front().shapes.push_back(slot.cell->value->shape());
    for (const SharedSlot& slot : general.shared_slots)
      entries_.front().shapes.push_back(slot.cell->value->shape());
  }
  Entry& found = entries_.front();
  measures_ = !found.is_final;
  return found.function.get();
}

void SpecialisedFunctions::add_time(const FunctionState& general,
                                    std::chrono::steady_clock::duration duration) {
  Entry& entry = entries_.front();
  entry.seconds += std::chrono::duration<double>(duration).count();
  const bool pays = entry.seconds >= std::max(min_seconds, compile_times * general.compile_seconds);
  if (setting() == Specialise::never || (!pays && setting() != Specialise::always)) return;
  entry.is_final = true;
  try {
    entry.function = compiled(general);
    // Of as many steps: calling another function would cost more than it saves.
    if (entry.function->program.steps().size() >= general.program.steps().size())
      entry.function = {};
  } catch (const std::exception&) {  // an op rejects the types: the calls go on as before
  }
}

Ref<FunctionState> SpecialisedFunctions::compiled(const FunctionState& general) const {
  Rebuild rebuild;
  std::vector<Variable> inputs;
  auto shape = entries_.front().shapes.begin();
  for (const Variable& input : inputs_) {
    inputs.emplace_back(TensorType(input.type().dtype(), *shape++, input.type().device()),
                        input.name());
    rebuild.replace(input, inputs.back());
  }
  std::unordered_map<const SharedValue*, Shape> shared_shapes;
  for (const SharedSlot& slot : general.shared_slots)
    shared_shapes.emplace(slot.shared.get(), *shape++);
  const auto replace_shared = [&](const Variable& variable) {
    const auto known = shared_shapes.find(variable.container());
    if (variable.container() == nullptr || known == shared_shapes.end()) return;
    const TensorType& type = variable.type();
    rebuild.replace(
        variable,
        Variable::shared(Ref<SharedValue>(variable.container()),
                         TensorType(type.dtype(), known->second, type.device()), variable.name()));
  };
  VariableSet seen(inputs_.begin(), inputs_.end());
  for (const Ref<Apply>& node : nodes_for(outputs_, VariableSet(inputs_.begin(), inputs_.end()))) {
    for (const Variable& input : node->inputs())
      if (seen.insert(input).second) replace_shared(input);
    rebuild.visit(*node);
  }
  for (const Variable& output : outputs_)
    if (seen.insert(output).second) replace_shared(output);
  std::vector<Variable> outputs = rebuild.current(outputs_);
  FunctionOptions options = options_;
  options.givens.clear();
  options.mutable_inputs.clear();
  options.on_unused_input = UnusedInput::ignore;
  const std::size_t count = outputs.size() - options.updates.size();
  for (std::size_t i = 0; i < options.updates.size(); ++i)
    options.updates[i].second = outputs[count + i];
  outputs.resize(count);
  return compile_function(std::move(inputs), std::move(outputs), std::move(options));
}

}  // namespace spanwise::graph
