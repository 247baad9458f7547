// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "backends/cuda/copy/copy_plan.hpp"
#include "spanwise/dtype.hpp"

namespace spanwise::cuda {

/// The source of a copy or fill kernel.
struct CopyKernelText {
  std::string name;  ///< its symbol
  std::string text;
};
/// Identifies a kernel: plans with equal keys use the same one.
using CopyKernelKey = std::uint64_t;

inline constexpr int copy_threads = 256;
/// Units per thread of a strided copy.
int units_per_thread(const CopyPlan& plan);

/// The kernel for plans of the same kind, rank, index width and units. For equal dtypes it depends
/// on the size of a unit only, so few kernels are needed. Blocks have copy_threads threads.
/// Parameters: source, target; for strided plans the step (an Offset) and the number of units (an
/// Index), for thin ones the chunk (an Index), for small_arrays the chunk and the number of inner
/// axes (an int), for aligned_chunks the length (an Index), the source's begin and end, and the
/// number of units; then the axes.
CopyKernelKey copy_kernel_key(const CopyPlan& plan, DType source, DType target);
CopyKernelText copy_kernel_text(const CopyPlan& plan, DType source, DType target);
/// Parameters: target, the value, the number of units, the axes.
CopyKernelKey fill_kernel_key(const CopyPlan& plan);
CopyKernelText fill_kernel_text(const CopyPlan& plan);

}  // namespace spanwise::cuda
