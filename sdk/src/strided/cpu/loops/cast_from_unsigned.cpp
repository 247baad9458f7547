// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "strided/cpu/loops/cast_block.hpp"

namespace spanwise::strided {

template BlockKernel cast_from<std::uint8_t>(DType);
template BlockKernel cast_from<std::uint16_t>(DType);
template BlockKernel cast_from<std::uint32_t>(DType);
template BlockKernel cast_from<std::uint64_t>(DType);

}  // namespace spanwise::strided
