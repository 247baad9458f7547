// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "spanwise/dtype.hpp"

namespace spanwise::ops::linalg {

/// CUDA C++ source of the kernels `tiles` and `lines` for products of one dtype with `batch_rank`
/// batch axes.
std::string cuda_product_source(DType dtype, bool conjugates_left, int batch_rank);
/// The same of the kernels `rows`, `columns`, `packed_rows` and `packed_columns` for products of a
/// matrix and a vector.
std::string cuda_gemv_source(DType dtype, bool conjugates_matrix);

}  // namespace spanwise::ops::linalg
