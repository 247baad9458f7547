// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "../compute.hpp"
#include "cpu_kernels.hpp"

namespace spanwise::ops {

inline constexpr int max_operands = max_inputs + 1;  ///< operands, then the result

/// compute_on_cpu() with `kernel` for operands of any layout and dtype: tile by tile, on several
/// threads.
void compute_in_tiles(const Signature& signature, const CpuKernel& kernel,
                      std::span<const Operand> operands, const Array& result, const Array* where);

}  // namespace spanwise::ops
