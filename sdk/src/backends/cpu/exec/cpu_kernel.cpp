// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <numeric>
#include <string_view>
#include <vector>

#include "backends/cpu/exec/worker.hpp"
#include "backends/cpu/jit/cpu_module.hpp"
#include "backends/cpu/processor.hpp"
#include "backends/cpu/settings.hpp"
#include "backends/cpu/thread_pool.hpp"
#include "spanwise/config.hpp"
#include "spanwise/error.hpp"

namespace spanwise::host {
namespace {

// The limits of GPUs since compute capability 3.0, and the shared memory of 9.0 (CUDA C++
// Programming Guide 13.0, table "Technical Specifications per Compute Capability"): launches that
// are valid here are valid there.
constexpr std::int64_t most_threads = 1024, most_block_z = 64;
constexpr std::int64_t most_grid_x = 2147483647, most_grid_yz = 65535;
constexpr std::int64_t most_shared = 232448;

void require_at_most(const char* kernel, const char* what, const Dim3& given, const char* axis,
                     std::int64_t value, std::int64_t limit) {
  if (value >= 1 && value <= limit) return;
  const char* problem = value < 1 ? " is too small: " : " is too large: ";
  fail<KernelArgumentError>("kernel '", kernel, "': ", what, " (", given.x, ", ", given.y, ", ",
                            given.z, ")", problem, axis, " ", value, ", expected 1 to ", limit);
}

void check_limits(const char* kernel, const Dim3& grid, const Dim3& block, std::int64_t shared) {
  require_at_most(kernel, "block", block, "x", block.x, most_threads);
  require_at_most(kernel, "block", block, "y", block.y, most_threads);
  require_at_most(kernel, "block", block, "z", block.z, most_block_z);
  require_at_most(kernel, "block", block, "threads", block.x * block.y * block.z, most_threads);
  require_at_most(kernel, "grid", grid, "x", grid.x, most_grid_x);
  require_at_most(kernel, "grid", grid, "y", grid.y, most_grid_yz);
  require_at_most(kernel, "grid", grid, "z", grid.z, most_grid_yz);
  if (shared < 0 || shared > most_shared)
    fail<KernelArgumentError>("kernel '", kernel, "': shared memory of ", shared,
                              " bytes a block is too large: limit ", most_shared, " bytes");
}

sw_extent extent(const Dim3& dim) {
  return {static_cast<unsigned>(dim.x), static_cast<unsigned>(dim.y), static_cast<unsigned>(dim.z)};
}

// Settings of a launch, cached per thread until a setting changes.
struct LaunchSettings {
  bool reverse = false;
  std::size_t stack_bytes = 0;
};

LaunchSettings launch_settings() {
  static thread_local std::uint64_t seen = ~std::uint64_t{0};
  static thread_local LaunchSettings settings;
  const std::uint64_t version = config::version();
  if (seen != version) {
    settings = {thread_order_setting() == ThreadOrder::reverse, stack_setting()};
    seen = version;
  }
  return settings;
}

std::size_t stack_need(const sw_module& module, const LaunchSettings& settings) {
  return std::max(static_cast<std::size_t>(module.stack_bytes), settings.stack_bytes);
}

sw_range range_of(const Dim3& grid, const Dim3& block, void* const* arguments) {
  sw_range range{};
  range.arguments = arguments;
  range.grid = extent(grid);
  range.block = extent(block);
  return range;
}

std::uint64_t block_count(const Dim3& grid) {
  return static_cast<std::uint64_t>(grid.x) * static_cast<std::uint64_t>(grid.y) *
         static_cast<std::uint64_t>(grid.z);
}

/// The order of blocks: forward, reverse, or pseudo-random with a step coprime to their number.
class BlockOrder {
 public:
  BlockOrder(const runtime::LaunchCheck& check, std::uint64_t blocks) : blocks_(blocks) {
    if (check.order == runtime::LaunchCheck::Order::reverse) {
      first_ = blocks - 1;
      step_ = blocks - 1;
    } else if (check.order == runtime::LaunchCheck::Order::random && blocks > 2) {
      first_ = check.seed % blocks;
      step_ = check.seed / 7 % (blocks - 1) + 1;
      while (std::gcd(step_, blocks) != 1) step_ = step_ % (blocks - 1) + 1;
    }
  }
  // The number of blocks is below 2^63 (at most 2^31 along x and 2^16 along y and z), so the
  // product needs 128 bits.
  std::uint64_t block(std::uint64_t i) const {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((first_ + static_cast<Wide>(step_) * i) % blocks_);
  }

 private:
  std::uint64_t blocks_, first_ = 0, step_ = 1;
};

void run_blocks(const LaunchedKernel& launched, const sw_range& launch, std::uint64_t blocks) {
  ThreadPool& pool = ThreadPool::instance();
  // Enough chunks to balance the load, few enough that their overhead is negligible.
  const auto pieces = static_cast<std::uint64_t>(pool.workers()) * 16;
  const std::uint64_t chunks = std::min(blocks, pieces);
  const auto first_of = [&](std::uint64_t chunk) {
    return blocks / chunks * chunk + std::min(chunk, blocks % chunks);
  };
  pool.run(chunks, Helpers::when_worth_it, [&](std::uint64_t chunk) {
    if (launched.reverse) chunk = chunks - 1 - chunk;
    sw_range range = launch;
    range.first = first_of(chunk);
    range.last = first_of(chunk + 1);
    Worker::current().run(launched, range);
  });
}

}  // namespace

CpuKernel::CpuKernel(Ref<CpuModule> module, const sw_module& unit, const sw_kernel* kernel)
    : module_(std::move(module)), unit_(unit), kernel_(kernel) {}

std::vector<runtime::LoadedKernel::Slot> CpuKernel::slots() const {
  std::vector<Slot> slots;
  for (int i = 0; i < kernel_->parameter_count; ++i)
    slots.push_back({kernel_->parameters[i].offset, kernel_->parameters[i].size});
  return slots;
}

std::string CpuKernel::parameter_types() const {
  // "... [with T = {float*, int}]" or "... [T = <float *, int>]".
  const std::string_view words = kernel_->types();
  const std::size_t open = words.rfind("T = ");
  const std::size_t close = words.find_last_of("}>");
  if (open == words.npos || close == words.npos || close < open + 5) return {};
  return std::string(words.substr(open + 5, close - open - 5));
}

KernelAttributes CpuKernel::attributes() const {
  KernelAttributes attributes;
  attributes.static_shared_bytes = module_->static_shared_bytes();
  attributes.local_bytes = static_cast<std::int64_t>(unit_.stack_bytes);
  attributes.architecture = processor_architecture();
  return attributes;
}

void CpuKernel::launch(const Dim3& grid, const Dim3& block, std::int64_t shared_bytes,
                       runtime::StreamState&, void* const* arguments) {
  check_limits(kernel_->name, grid, block, shared_bytes);
  const LaunchSettings settings = launch_settings();
  const LaunchedKernel launched{kernel_, unit_.file, stack_need(unit_, settings),
                                static_cast<std::size_t>(shared_bytes), settings.reverse};
  run_blocks(launched, range_of(grid, block, arguments), block_count(grid));
  // Kernels share stdout's buffer with the program; flush it now, as a GPU's output appears at the
  // next synchronization.
  if (unit_.prints != 0) std::fflush(stdout);
}

void CpuKernel::launch_with(const runtime::LaunchAttributes& attributes, const Dim3& grid,
                            const Dim3& block, std::int64_t shared_bytes,
                            runtime::StreamState& stream, void* const* arguments) {
  const Dim3& cluster = attributes.cluster;
  if (cluster.x * cluster.y * cluster.z != 1)
    fail<KernelArgumentError>(
        "kernel '", kernel_->name, "': cluster (", cluster.x, ", ", cluster.y, ", ", cluster.z,
        ") is for GPUs of compute capability 9.0 and newer. Remedy: on the CPU leave cluster= out");
  if (attributes.check == nullptr || !checks())
    return launch(grid, block, shared_bytes, stream, arguments);
  launch_checked(*attributes.check, grid, block, shared_bytes, arguments);
}

// Runs one block after the other in the calling thread, in the order requested.
void CpuKernel::launch_checked(const runtime::LaunchCheck& check, const Dim3& grid,
                               const Dim3& block, std::int64_t shared_bytes,
                               void* const* arguments) {
  using Order = runtime::LaunchCheck::Order;
  check_limits(kernel_->name, grid, block, shared_bytes);
  std::vector<sw_fence> red_zones;
  red_zones.reserve(check.red_zones.size() + 1);
  for (const runtime::RedZone& red_zone : check.red_zones)
    red_zones.push_back({static_cast<const char*>(red_zone.begin),
                         static_cast<const char*>(red_zone.end),
                         static_cast<const char*>(red_zone.data),
                         static_cast<const char*>(red_zone.data_end), red_zone.argument});
  LaunchedKernel launched{kernel_, unit_.file, stack_need(unit_, launch_settings()),
                          static_cast<std::size_t>(shared_bytes), check.order == Order::reverse};
  if (check.order == Order::random) launched.shuffle = check.seed | 1u;
  launched.red_zones = &red_zones;
  const std::uint64_t blocks = block_count(grid);
  const BlockOrder order(check, blocks);
  sw_range launch = range_of(grid, block, arguments);
  for (std::uint64_t i = 0; i < blocks; ++i) {
    launch.first = order.block(i);
    launch.last = launch.first + 1;
    try {
      Worker::current().run(launched, launch);
    } catch (const DeviceError& error) {
      const void* code = Worker::take_faulting_code();
      const std::string line = code != nullptr ? module_->line_before(code) : "";
      if (line.empty()) throw;
      fail<DeviceError>(error.what(), ", ", line);
    }
  }
  if (unit_.prints != 0) std::fflush(stdout);
}

int CpuKernel::max_active_blocks(int threads, std::int64_t shared_bytes) {
  check_limits(kernel_->name, {}, {threads, 1, 1}, shared_bytes);
  return 1;  // a worker runs one block at a time
}

}  // namespace spanwise::host
