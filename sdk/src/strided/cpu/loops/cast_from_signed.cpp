// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "strided/cpu/loops/cast_block.hpp"

// Casts from the signed integers and from bool.
namespace spanwise::strided {

template BlockKernel cast_from<bool>(DType);
template BlockKernel cast_from<std::int8_t>(DType);
template BlockKernel cast_from<std::int16_t>(DType);
template BlockKernel cast_from<std::int32_t>(DType);
template BlockKernel cast_from<std::int64_t>(DType);

}  // namespace spanwise::strided
