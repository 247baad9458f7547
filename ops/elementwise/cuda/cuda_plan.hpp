// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "cuda_source.hpp"
#include "cuda_walk.hpp"

namespace spanwise::ops {

/// One array of a walk.
struct OperandInfo {
  std::uintptr_t address;
  int itemsize;
  AccessPattern* pattern;  ///< set by the plan; null for the result
};

/// Chooses the kernel for arrays that are not all contiguous: kind, width, patterns, tiles, and the
/// order and direction of the axes. `operands` are in the walk's order.
void plan_on_cuda(KernelShape& shape, CudaWalk& walk, std::span<const OperandInfo> operands);

/// The number of steps of a plan: per thread for rows and strided, per block for tiles.
std::int64_t steps_of(const KernelShape& shape, const CudaWalk& walk) noexcept;

}  // namespace spanwise::ops
