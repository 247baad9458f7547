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
  int itemsize;            ///< of the widest, for several results
  AccessPattern* pattern;  ///< set by the plan; null for the result
};

/// Chooses the kernel for arrays that are not all contiguous: kind, width, patterns, tiles, and the
/// order and direction of the axes. `operands` are in the walk's order. Several results of one
/// layout are one operand; each is aligned as the first.
void plan_on_cuda(KernelLayout& layout, CudaWalk& walk, std::span<const OperandInfo> operands);

/// The number of steps of a plan: per thread for rows and strided, per block for tiles.
std::int64_t steps_of(const KernelLayout& layout, const CudaWalk& walk) noexcept;

}  // namespace spanwise::ops
