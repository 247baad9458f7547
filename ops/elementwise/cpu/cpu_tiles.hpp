// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "../compute.hpp"
#include "cpu_kernels.hpp"

namespace spanwise::ops {

inline constexpr int max_lanes = max_inputs + 1;  ///< operands, then the result

/// compute_on_cpu() by `kernel` for operands that lie in any way and are of any dtypes: tile by
/// tile, which the threads of the CPU share.
void compute_in_tiles(const Signature& signature, const CpuKernel& kernel,
                      std::span<const Operand> operands, const Array& result, const Array* where);

}  // namespace spanwise::ops
