// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "kinds.hpp"
#include "reduce.hpp"

namespace spanwise::ops::reduce {

/// Whether values of the dtype are integers or bools.
inline bool is_whole(DType dtype) noexcept { return dtype.is_bool() || dtype.is_integer(); }

/// The dtype that elements are cast to before they are summed as `wanted`; their own if the
/// accumulator makes the cast unnecessary.
DType element_for(DType element, DType wanted) noexcept;

/// The kind that computes `op`, of those that compute it in one pass; sum for the others.
Kind kind_of(Operation op, DType element) noexcept;

/// The kernel of a kind; `element` is changed to the dtype that the input is cast to. `inexact`
/// means that integers are accumulated as floating point: only 64-bit integers have kernels for
/// that; sums of narrower ones are exact in 64 bits, and their products need a cast copy.
ReductionTypes kernel_for(Kind kind, DType& element, bool inexact) noexcept;

}  // namespace spanwise::ops::reduce
