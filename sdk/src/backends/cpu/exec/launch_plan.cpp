// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/exec/launch_plan.hpp"

#include <algorithm>
#include <numeric>

#include "backends/cpu/settings.hpp"
#include "runtime/loaded_kernel.hpp"
#include "spanwise/runtime/config.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::cpu_backend {
namespace {

// The limits of GPUs since compute capability 3.0, and the shared memory of 9.0 (CUDA C++
// Programming Guide 13.0, table "Technical Specifications per Compute Capability"): launches that
// are valid here are valid there.
constexpr std::int64_t max_threads = 1024, max_block_z = 64;
constexpr std::int64_t max_grid_x = 2147483647, max_grid_yz = 65535;
constexpr std::int64_t max_shared = 232448;  // bytes

void check_extent(const char* kernel, const char* parameter, const Dim3& extents, const char* axis,
                  std::int64_t value, std::int64_t limit) {
  if (value >= 1 && value <= limit) return;
  const char* problem = value < 1 ? " is too small: " : " is too large: ";
  fail<KernelArgumentError>("kernel '", kernel, "': ", parameter, ' ',
                            runtime::extents_text(extents), problem, axis, " ", value,
                            ", expected 1 to ", limit);
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
    settings = {reverse_order_setting(), stack_setting()};
    seen = version;
  }
  return settings;
}

}  // namespace

void check_limits(const char* kernel, const Dim3& grid, const Dim3& block, std::int64_t shared) {
  check_extent(kernel, "block", block, "x", block.x, max_threads);
  check_extent(kernel, "block", block, "y", block.y, max_threads);
  check_extent(kernel, "block", block, "z", block.z, max_block_z);
  check_extent(kernel, "block", block, "threads", block.x * block.y * block.z, max_threads);
  check_extent(kernel, "grid", grid, "x", grid.x, max_grid_x);
  check_extent(kernel, "grid", grid, "y", grid.y, max_grid_yz);
  check_extent(kernel, "grid", grid, "z", grid.z, max_grid_yz);
  if (shared < 0 || shared > max_shared)
    fail<KernelArgumentError>("kernel '", kernel, "': shared memory of ", shared,
                              " bytes a block, expected 0 to ", max_shared);
}

std::size_t stack_need(const sw_module& module) {
  return std::max(static_cast<std::size_t>(module.stack_bytes), launch_settings().stack_bytes);
}

bool runs_in_reverse() { return launch_settings().reverse; }

std::string extent_text(const sw_extent& extent) {
  return text('(', extent.x, ", ", extent.y, ", ", extent.z, ')');
}

std::string thread_text(const sw_extent& thread, const sw_extent& block) {
  return text("thread ", extent_text(thread), " of block ", extent_text(block));
}

IndexOrder index_order(std::uint64_t count, bool reverse, std::uint64_t seed) {
  if (seed == 0 || count <= 2) return reverse ? IndexOrder{count - 1, count - 1} : IndexOrder{};
  IndexOrder order{seed % count, seed / count % (count - 1) + 1};
  while (std::gcd(order.step, count) != 1) order.step = order.step % (count - 1) + 1;
  return order;
}

sw_range launch_range(const Dim3& grid, const Dim3& block, void* const* arguments) {
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

}  // namespace spanwise::cpu_backend
