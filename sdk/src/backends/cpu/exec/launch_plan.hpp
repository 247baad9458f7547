// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "backends/cpu/shim/spanwise/spanwise_abi.h"
#include "spanwise/runtime/kernel_types.hpp"

namespace spanwise::cpu_backend {

/// Throws KernelArgumentError if the launch exceeds the limits of GPUs. `shared`: bytes of dynamic
/// shared memory.
void check_limits(const char* kernel, const Dim3& grid, const Dim3& block, std::int64_t shared);
/// A range with the launch's extents and arguments, but without blocks.
sw_range launch_range(const Dim3& grid, const Dim3& block, void* const* arguments);
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

/// An order of the indices 0 .. count - 1: `first`, then each index plus `step`, modulo `count`.
struct IndexOrder {
  std::uint64_t first = 0, step = 1;
};
/// Ascending; descending with `reverse`; or, for a `seed` other than 0 and more than two indices,
/// pseudo-random: a step coprime to `count` visits each index once. `count` is not 0.
IndexOrder index_order(std::uint64_t count, bool reverse, std::uint64_t seed);

/// Bytes of stack for a thread of a kernel of `module`, at least config "cpu_stack_kb".
std::size_t stack_need(const sw_module& module);
/// reverse_order_setting(), cached per thread until a setting changes.
bool runs_in_reverse();

}  // namespace spanwise::cpu_backend
