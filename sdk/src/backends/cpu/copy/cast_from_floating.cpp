// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/copy/cast_block.hpp"

namespace spanwise::cpu_backend {

template BlockKernel cast_from<Half>(DType);
template BlockKernel cast_from<BFloat16>(DType);
template BlockKernel cast_from<float>(DType);
template BlockKernel cast_from<double>(DType);

}  // namespace spanwise::cpu_backend
