// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "spanwise/devices.hpp"
#include "spanwise/runtime/kernel_types.hpp"

namespace spanwise::cuda {

/// Limits of the launches of one kernel on one device.
struct LaunchLimits {
  const DeviceProperties* device = nullptr;
  int max_threads = 1024;          ///< per block of this kernel: fewer if it needs many registers
  std::int64_t static_shared = 0;  ///< bytes of the kernel's static shared memory

  /// Whether a launch is within all limits.
  bool allow(const Dim3& grid, const Dim3& block, std::int64_t shared_bytes) const noexcept {
    const auto in = [](std::int64_t n, std::int64_t limit) { return n >= 1 && n <= limit; };
    const auto& b = device->max_block;
    const auto& g = device->max_grid;
    return in(block.x, b[0]) && in(block.y, b[1]) && in(block.z, b[2]) &&
           block.x * block.y * block.z <= max_threads && in(grid.x, g[0]) && in(grid.y, g[1]) &&
           in(grid.z, g[2]) && shared_bytes >= 0 &&
           shared_bytes + static_shared <= device->max_shared_bytes_optin;
  }
  /// Throws KernelArgumentError for a launch that allow() rejects, with the limit and the value
  /// that exceeds it.
  [[noreturn]] void refuse(const std::string& kernel, const Dim3& grid, const Dim3& block,
                           std::int64_t shared_bytes) const;
};

}  // namespace spanwise::cuda
