// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "backends/cuda/copy/copy_plan.hpp"
#include "spanwise/dtype.hpp"

namespace spanwise::cuda {

/// A copy or fill kernel as text.
struct CopyKernelText {
  std::string name;  ///< its symbol
  std::string text;
};
/// Names a kernel: plans with equal keys are served by one.
using CopyKernelKey = std::uint64_t;

inline constexpr int copy_threads = 256;
/// Units that one thread of a strided copy moves.
int units_per_thread(const CopyPlan& plan);

/// The kernel for plans of the same kind, rank, width of index, and units. Where dtypes are equal
/// only the size of a unit counts, so few kernels serve all copies. All have copy_threads threads a
/// block. Parameters: source, target; for strided plans the step (an Offset) and the number of
/// units (an Index), for thin ones the chunk (an Index), for cells the chunk and the number of
/// inner axes (an int), for aligned_chunks the length (an Index), the hull's begin and end, and the
/// number of units; then the axes.
CopyKernelKey copy_kernel_key(const CopyPlan& plan, DType source, DType target);
CopyKernelText copy_kernel_text(const CopyPlan& plan, DType source, DType target);
/// Parameters: target, the value, the number of units, the axes.
CopyKernelKey fill_kernel_key(const CopyPlan& plan);
CopyKernelText fill_kernel_text(const CopyPlan& plan);

}  // namespace spanwise::cuda
