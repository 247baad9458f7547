// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "arithmetic.hpp"

namespace spanwise::ops {

/// CUDA C for one operation on operands of these dtypes, computed as `result`, over at most `rank`
/// axes. Its kernels, one thread an element (dense: four):
///   dense(a, b, z, n)            everything contiguous
///   flat(a, sa, b, sb, z, n)     one axis, any strides
///   strided32/64(a, b, z, walk, n)  walk: shape[rank], then the strides of a and of b; z is dense
///   in
///                                   the order of the walk; indices of 32 or 64 bits
/// A unary operation has no b.
std::string cuda_source(Arithmetic kind, std::span<const DType> operands, DType result, int rank);

}  // namespace spanwise::ops
