// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "backends/cpu/shim/spanwise/spanwise_abi.h"
#include "spanwise/runtime/kernel_types.hpp"

namespace spanwise::cpu_backend {

/// Throws KernelArgumentError if the launch exceeds the limits of GPUs.
void check_limits(const char* kernel, const Dim3& grid, const Dim3& block, std::int64_t shared);
/// The launch's extents and arguments, without blocks.
sw_range range_of(const Dim3& grid, const Dim3& block, void* const* arguments);
std::uint64_t block_count(const Dim3& grid);
/// The position of element `index`, x first, in a grid or block of these extents.
constexpr sw_extent position_of(std::uint64_t index, const sw_extent& extents) noexcept {
  return {static_cast<unsigned>(index % extents.x),
          static_cast<unsigned>(index / extents.x % extents.y),
          static_cast<unsigned>(index / extents.x / extents.y)};
}

/// "(x, y, z)", and "thread (1, 0, 0) of block (0, 0, 0)", for messages.
std::string extent_text(const sw_extent& extent);
std::string thread_text(const sw_extent& thread, const sw_extent& block);

/// Bytes of stack for a thread of a kernel of `module`, config "cpu_stack_kb" included.
std::size_t stack_need(const sw_module& module);
/// config "cpu_thread_order" is "reverse".
bool reverse_threads();

}  // namespace spanwise::cpu_backend
