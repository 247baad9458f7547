// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cpu/shim/spanwise/spanwise_abi.h"
#include "spanwise/runtime/kernel_types.hpp"

namespace spanwise::cpu_backend {

/// Throws KernelArgumentError if the launch exceeds the limits of GPUs.
void check_limits(const char* kernel, const Dim3& grid, const Dim3& block, std::int64_t shared);
/// The launch's extents and arguments, without blocks.
sw_range range_of(const Dim3& grid, const Dim3& block, void* const* arguments);
std::uint64_t block_count(const Dim3& grid);
/// Bytes of stack for a thread of a kernel of `module`, config "cpu_stack_kb" included.
std::size_t stack_need(const sw_module& module);
/// config "cpu_thread_order" is "reverse".
bool reverse_threads();

}  // namespace spanwise::cpu_backend
