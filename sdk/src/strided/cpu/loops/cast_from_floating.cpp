// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "strided/cpu/loops/cast_block.hpp"

namespace spanwise::strided {

template BlockKernel cast_from<Half>(DType);
template BlockKernel cast_from<BFloat16>(DType);
template BlockKernel cast_from<float>(DType);
template BlockKernel cast_from<double>(DType);

}  // namespace spanwise::strided
