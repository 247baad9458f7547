// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cpu/host_bounds.hpp"
#include "cpu/host_move.hpp"
#include "selection.hpp"

namespace spanwise::ops {

/// The loop that accumulates rows of elements of `dtype`. Throws DTypeError if the CPU has none.
MoveLoop accumulate_loop(DType dtype, Accumulation how);

/// The same for single elements array + indices[i] * stride and value + i * value_step. All indices
/// are inside [-extent, extent); `kind` says whether any is negative. Steps in bytes.
using ElementAccumulateLoop = void (*)(std::byte* array, const std::int64_t* indices,
                                       std::int64_t count, IndexRange kind, std::int64_t extent,
                                       std::int64_t stride, const std::byte* value,
                                       std::int64_t value_step);
ElementAccumulateLoop element_accumulate_loop(DType dtype, Accumulation how);

/// Accumulates with kernels queued on the current stream. All arrays are on one GPU and aligned to
/// their elements; the selection has no mask. Throws DTypeError.
void accumulate_on_gpu(const Selection& selection, const Array& value, Accumulation how);

}  // namespace spanwise::ops
