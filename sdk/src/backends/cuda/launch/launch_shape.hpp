// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "spanwise/kernel_types.hpp"

namespace spanwise::cuda {

/// A launch's extents as the driver takes them.
struct LaunchShape {
  struct Extents {
    unsigned x, y, z;
    bool operator==(const Extents&) const = default;
  };
  Extents grid{}, block{};
  unsigned shared_bytes = 0;

  LaunchShape() = default;
  /// Within LaunchLimits every extent fits.
  LaunchShape(const Dim3& blocks, const Dim3& threads, std::int64_t bytes) noexcept
      : grid(extents(blocks)), block(extents(threads)), shared_bytes(narrow(bytes)) {}
  bool operator==(const LaunchShape&) const = default;

  /// Into the driver's own structures, which name the extents alike.
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
  static Extents extents(const Dim3& given) noexcept {
    return {narrow(given.x), narrow(given.y), narrow(given.z)};
  }

 private:
  static unsigned narrow(std::int64_t n) noexcept { return static_cast<unsigned>(n); }
};

}  // namespace spanwise::cuda
