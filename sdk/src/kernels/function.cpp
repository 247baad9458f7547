// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/argument_errors.hpp"
#include "kernels/bound_arguments.hpp"
#include "kernels/contiguous_arguments.hpp"
#include "kernels/declared_layout.hpp"
#include "kernels/module_state.hpp"
#include "runtime/backend.hpp"
#include "runtime/ordering.hpp"
#include "spanwise/error.hpp"
#include "spanwise/kernel.hpp"

namespace spanwise {
namespace {

using kernels::FunctionState;

bool is_empty(const Dim3& extents) noexcept {
  return extents.x < 1 || extents.y < 1 || extents.z < 1;
}

std::string shown(const Dim3& extents) {
  return text('(', extents.x, ", ", extents.y, ", ", extents.z, ')');
}

[[noreturn]] void fail_extents(const FunctionState& function, const LaunchConfig& config) {
  const bool grid = is_empty(config.grid);
  fail<KernelArgumentError>("kernel '", function.name(), "': expected a ", grid ? "grid" : "block",
                            " of at least 1 in each direction, got ", grid ? "grid " : "block ",
                            shown(grid ? config.grid : config.block),
                            ". Remedy: an empty problem needs no launch; skip the call");
}

void check_config(const FunctionState& function, const LaunchConfig& config) {
  if (is_empty(config.grid) || is_empty(config.block)) [[unlikely]]
    fail_extents(function, config);
  require<KernelArgumentError>(config.shared_bytes >= 0, "kernel '", function.name(),
                               "': expected dynamic shared memory of at least 0 bytes, got ",
                               config.shared_bytes);
  if (config.stream && config.stream->device() != function.device()) [[unlikely]]
    fail<KernelArgumentError>(
        "kernel '", function.name(), "': expected a stream of ", function.device(),
        ", where it is loaded, got a stream of ", config.stream->device(),
        ". Remedy: compile the module for that device, or pass a stream of ", function.device());
}

// After all checks, so that a refused launch orders nothing.
void order_arrays(const FunctionState& function, std::span<const KernelArg> arguments,
                  runtime::StreamState& stream) {
  const auto& rules = function.signature().rules;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i].is_array())
      runtime::order_use(stream, arguments[i].array().storage(), rules[i].writes);
}

}  // namespace

Function::Function(Ref<FunctionState> state) noexcept : state_(state) {}

FunctionState& Function::state() const noexcept { return static_cast<FunctionState&>(*state_); }

void Function::launch(const LaunchConfig& config, std::span<const KernelArg> arguments) const {
  const FunctionState& function = state();
  check_config(function, config);
  if (function.signature().copies && kernels::ContiguousArguments::are_needed(function, arguments))
      [[unlikely]] {
    const StreamGuard guard(config.stream ? *config.stream : Stream::current(device()));
    const kernels::ContiguousArguments copies(function, arguments);
    launch(config, copies.arguments());
    return copies.take_back();
  }
  const kernels::BoundArguments bound(function, arguments);
  runtime::StreamState& stream =
      config.stream ? config.stream->state() : runtime::current_stream(function.device());
  order_arrays(function, arguments, stream);
  function.kernel().launch(config.grid, config.block, config.shared_bytes, stream,
                           bound.pointers());
}

void Function::launch_raw(const LaunchConfig& config, std::span<void* const> values) const {
  const FunctionState& function = state();
  check_config(function, config);
  if (values.size() != function.signature().rules.size()) [[unlikely]]
    kernels::fail_count(function, values.size());
  runtime::StreamState& stream =
      config.stream ? config.stream->state() : runtime::current_stream(function.device());
  function.kernel().launch(config.grid, config.block, config.shared_bytes, stream, values.data());
}

Function Function::bind(std::span<const std::string> declarations) const {
  return Function(
      make_ref<FunctionState>(state(), kernels::declared_signature(state(), declarations)));
}

const std::string& Function::name() const noexcept { return state().name(); }

Device Function::device() const noexcept { return state().device(); }

std::span<const KernelParameter> Function::parameters() const noexcept {
  return state().signature().parameters;
}

KernelAttributes Function::attributes() const { return state().kernel().attributes(); }

}  // namespace spanwise
