// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/kernels/kernel.hpp"

#include <cstring>
#include <vector>

#include "kernels/kernel_launch.hpp"
#include "kernels/module_state.hpp"
#include "runtime/backend.hpp"
#include "runtime/settings.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/runtime/devices.hpp"

namespace spanwise {

KernelArg KernelArg::memory(const Array& array) noexcept {
  KernelArg argument(array);
  argument.kind_ = Kind::memory;
  return argument;
}

KernelArg KernelArg::integer(std::int64_t value) noexcept { return {Kind::integer, Scalar(value)}; }

KernelArg KernelArg::real(double value) noexcept { return {Kind::real, Scalar(value)}; }

KernelArg KernelArg::bytes(std::span<const std::byte> bytes) noexcept {
  KernelArg argument(Kind::bytes, Scalar(std::int64_t{0}));
  argument.bytes_ = bytes;
  return argument;
}

KernelArg KernelArg::address(std::uintptr_t address) noexcept {
  return {Kind::address, Scalar(std::uint64_t{address})};
}

KernelArg KernelArg::address(std::uintptr_t address, const Array& array) noexcept {
  KernelArg argument = KernelArg::address(address);
  argument.array_ = &array;
  return argument;
}

KernelArg KernelArg::bytes(std::span<const std::byte> bytes, const Array& array) noexcept {
  KernelArg argument = KernelArg::bytes(bytes);
  argument.array_ = &array;
  return argument;
}

namespace {

using kernels::KernelState;

bool is_empty(const Dim3& extents) noexcept {
  return extents.x < 1 || extents.y < 1 || extents.z < 1;
}

[[noreturn]] void fail_extents(const KernelState& function, const LaunchConfig& config) {
  const bool is_grid = is_empty(config.grid);
  const char* noun = is_grid ? "grid" : "block";
  fail<KernelArgumentError>("kernel '", function.name(), "': expected a ", noun,
                            " of at least 1 in each direction, got ", noun, ' ',
                            runtime::extents_text(is_grid ? config.grid : config.block),
                            ". Remedy: an empty problem needs no launch; skip the call");
}

void check_config(const KernelState& function, const LaunchConfig& config) {
  if (is_empty(config.grid) || is_empty(config.block)) [[unlikely]]
    fail_extents(function, config);
  if (config.shared_bytes < 0)
    fail<KernelArgumentError>("kernel '", function.name(),
                              "': expected dynamic shared memory of at least 0 bytes, got ",
                              config.shared_bytes);
  if (config.stream && config.stream->device() != function.device()) [[unlikely]]
    fail<KernelArgumentError>(
        "kernel '", function.name(), "': expected a stream of ", function.device(),
        ", where it is loaded, got a stream of ", config.stream->device(),
        ". Remedy: compile the module for that device, or pass a stream of ", function.device());
}

std::vector<KernelArg> described(const KernelState& function, const RawArguments& raw) {
  std::vector<KernelArg> arguments;
  for (std::size_t i = 0; i < raw.values().size(); ++i) {
    const kernels::ParameterRule& rule = function.signature().rules[i];
    const void* value = raw.values()[i];
    const Array* array = raw.arrays()[i];
    if (rule.kind == kernels::ParameterRule::Kind::pointer) {
      std::uintptr_t address = 0;
      std::memcpy(&address, value, sizeof address);
      arguments.push_back(array != nullptr ? KernelArg::address(address, *array)
                                           : KernelArg::address(address));
    } else {
      const std::span bytes(static_cast<const std::byte*>(value), rule.size);
      arguments.push_back(array != nullptr ? KernelArg::bytes(bytes, *array)
                                           : KernelArg::bytes(bytes));
    }
  }
  return arguments;
}

}  // namespace

Kernel::Kernel(Ref<KernelState> state) noexcept : state_(state) {}

KernelState& Kernel::state() const noexcept { return static_cast<KernelState&>(*state_); }

void Kernel::launch(const LaunchConfig& config, std::span<const KernelArg> arguments) const {
  const KernelState& function = state();
  check_config(function, config);
  if (function.signature().copies && kernels::ContiguousArguments::are_needed(function, arguments))
      [[unlikely]] {
    const StreamGuard guard(config.stream ? *config.stream : Stream::current(device()));
    const kernels::ContiguousArguments copies(function, arguments);
    launch(config, copies.arguments());
    return copies.copy_out();
  }
  if (const runtime::KernelCheck check = runtime::kernel_check(); check.any()) [[unlikely]]
    return kernels::checked_launch(function, config, arguments, check);
  kernels::queue_launch(function, function.kernel(), config, arguments, nullptr);
}

void Kernel::launch_raw(const LaunchConfig& config, const RawArguments& arguments) const {
  const KernelState& function = state();
  check_config(function, config);
  const std::span<void* const> values = arguments.values();
  if (values.size() != function.signature().rules.size()) [[unlikely]]
    kernels::fail_count(function, values.size());
  if (runtime::kernel_check().any()) [[unlikely]]
    return launch(config, described(function, arguments));
  function.kernel().launch(config.grid, config.block, config.shared_bytes,
                           kernels::stream_of(function, config), values.data());
}

Kernel Kernel::bind(std::span<const std::string> declarations) const {
  return Kernel(make_ref<KernelState>(state(), kernels::declared_signature(state(), declarations)));
}

const std::string& Kernel::name() const noexcept { return state().name(); }

std::uintptr_t Kernel::handle() const noexcept { return state().kernel().handle(); }

Device Kernel::device() const noexcept { return state().device(); }

std::span<const KernelParameter> Kernel::parameters() const noexcept {
  return state().signature().parameters;
}

std::string_view Kernel::source() const noexcept {
  return state().module()->request().source->text;
}

Module Kernel::module() const { return Module(state().module()); }

KernelAttributes Kernel::attributes() const { return state().kernel().attributes(); }

int Kernel::max_active_blocks(int threads, std::int64_t shared_bytes) const {
  const int max_threads = attributes().max_threads_per_block;
  if (threads < 1 || threads > max_threads || shared_bytes < 0)
    fail<KernelArgumentError>("kernel '", name(), "': expected a block of 1 to ", max_threads,
                              " threads and shared memory of at least 0 bytes, got ", threads,
                              " and ", shared_bytes);
  return state().kernel().max_active_blocks(threads, shared_bytes);
}

BlockSize Kernel::occupancy_block_size(std::int64_t shared_bytes) const {
  const DeviceProperties device = properties(this->device());
  constexpr int cpu_threads = 256;  // on the CPU the block size hardly matters
  if (this->device().is_cpu()) return {cpu_threads, device.multiprocessors};
  BlockSize best;
  int resident_threads = 0;
  const int max_threads = attributes().max_threads_per_block;
  for (int threads = max_threads / device.warp_size * device.warp_size; threads > 0;
       threads -= device.warp_size) {
    const int blocks = max_active_blocks(threads, shared_bytes);
    if (blocks * threads <= resident_threads) continue;
    resident_threads = blocks * threads;
    best = {threads, blocks * device.multiprocessors};
  }
  if (resident_threads <= 0)
    fail<KernelArgumentError>("kernel '", name(), "': no block fits with ", shared_bytes,
                              " bytes of dynamic shared memory. Remedy: use less");
  return best;
}

}  // namespace spanwise
