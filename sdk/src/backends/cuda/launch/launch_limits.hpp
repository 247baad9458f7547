// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "spanwise/runtime/devices.hpp"
#include "spanwise/runtime/kernel_types.hpp"

namespace spanwise::cuda {

/// Limits of the launches of one kernel on one device.
struct LaunchLimits {
  const DeviceProperties* device = nullptr;
  int max_threads = 1024;          ///< per block of this kernel: fewer if it needs many registers
  std::int64_t static_shared = 0;  ///< bytes of the kernel's static shared memory

  /// Whether a launch is within all limits.
  bool allows(const Dim3& grid, const Dim3& block, std::int64_t shared_bytes) const noexcept {
    const auto fits = [](const Dim3& dim, const std::array<std::int64_t, 3>& limits) {
      return dim.x >= 1 && dim.x <= limits[0] && dim.y >= 1 && dim.y <= limits[1] && dim.z >= 1 &&
             dim.z <= limits[2];
    };
    return fits(block, device->max_block) && block.x * block.y * block.z <= max_threads &&
           fits(grid, device->max_grid) && shared_bytes >= 0 &&
           shared_bytes + static_shared <= device->max_shared_bytes_optin;
  }
  /// Throws KernelArgumentError for a launch that allows() rejects, with the limit and the value
  /// that exceeds it.
  [[noreturn]] void refuse(const std::string& kernel, const Dim3& grid, const Dim3& block,
                           std::int64_t shared_bytes) const;
};

}  // namespace spanwise::cuda
