// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/copy/cast_block.hpp"

namespace spanwise::host {

template BlockKernel cast_from<std::complex<float>>(DType);
template BlockKernel cast_from<std::complex<double>>(DType);

}  // namespace spanwise::host
