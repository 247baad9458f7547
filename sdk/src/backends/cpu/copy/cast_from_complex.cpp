// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/copy/cast_block.hpp"

namespace spanwise::cpu_backend {

template BlockKernel cast_from<std::complex<float>>(DType);
template BlockKernel cast_from<std::complex<double>>(DType);

}  // namespace spanwise::cpu_backend
