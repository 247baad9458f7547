// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "strided/cpu/loops/cast_block.hpp"

namespace spanwise::strided {

template BlockKernel cast_from<std::complex<float>>(DType);
template BlockKernel cast_from<std::complex<double>>(DType);

}  // namespace spanwise::strided
