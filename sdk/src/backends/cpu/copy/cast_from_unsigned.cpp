// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/copy/cast_block.hpp"

namespace spanwise::cpu_backend {

template BlockKernel cast_from<std::uint8_t>(DType);
template BlockKernel cast_from<std::uint16_t>(DType);
template BlockKernel cast_from<std::uint32_t>(DType);
template BlockKernel cast_from<std::uint64_t>(DType);

}  // namespace spanwise::cpu_backend
