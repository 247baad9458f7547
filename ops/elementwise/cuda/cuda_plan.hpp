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
  int itemsize;            ///< of several results: of the widest
  AccessPattern* pattern;  ///< where the plan says how it lies; null for the result
};

/// Chooses the kernel for arrays that are not all contiguous: kind, width, access patterns, tiles
/// and the axes' order and direction. `strands` are in the walk's order. Several results of one
/// layout are one operand of the walk; each is aligned as the first.
void plan_on_cuda(KernelLayout& layout, CudaWalk& walk, std::span<const OperandInfo> strands);

/// Of a plan: its threads' steps for rows and strided, its blocks' for tiles.
std::int64_t steps_of(const KernelLayout& layout, const CudaWalk& walk) noexcept;

}  // namespace spanwise::ops
