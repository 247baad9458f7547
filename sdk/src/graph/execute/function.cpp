// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/graph/function.hpp"

#include "graph/execute/function_state.hpp"

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

std::vector<Ref<Apply>> CompiledFunction::toposort() const {
  std::vector<Ref<Apply>> nodes;
  for (const graph::Step& step : state_of(state_).program.steps()) nodes.push_back(step.node);
  return nodes;
}

void CompiledFunction::free() const { state_of(state_).free(); }

}  // namespace spanwise
