// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "spanwise/runtime/kernel_types.hpp"

namespace spanwise::cuda {

/// Grid, block and dynamic shared memory of a launch, in the driver's types.
struct LaunchShape {
  struct LaunchDims {
    unsigned x, y, z;
    bool operator==(const LaunchDims&) const = default;
  };
  LaunchDims grid{}, block{};
  unsigned shared_bytes = 0;

  LaunchShape() = default;
  /// The values must be within LaunchLimits, so that they fit.
  LaunchShape(const Dim3& blocks, const Dim3& threads, std::int64_t bytes) noexcept
      : grid(extents(blocks)), block(extents(threads)), shared_bytes(narrow(bytes)) {}
  bool operator==(const LaunchShape&) const = default;

  /// Stores the values in one of the driver's structures, whose members have the same names.
  template <class Parameters>
  void put_into(Parameters& parameters) const noexcept {
    parameters.gridDimX = grid.x;
    parameters.gridDimY = grid.y;
    parameters.gridDimZ = grid.z;
    parameters.blockDimX = block.x;
    parameters.blockDimY = block.y;
    parameters.blockDimZ = block.z;
    parameters.sharedMemBytes = shared_bytes;
  }
  static LaunchDims extents(const Dim3& dim) noexcept {
    return {narrow(dim.x), narrow(dim.y), narrow(dim.z)};
  }

 private:
  static unsigned narrow(std::int64_t n) noexcept { return static_cast<unsigned>(n); }
};

}  // namespace spanwise::cuda
