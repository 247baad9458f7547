// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cpu/host_bounds.hpp"
#include "cpu/host_move.hpp"
#include "selection.hpp"

namespace spanwise::ops {

/// The loop that accumulates rows of elements of `dtype`. Throws DTypeError where there is none.
MoveLoop accumulate_loop(DType dtype, Accumulation how);

/// The same for single elements array + indices[i] * stride and value + i * value_step, where
/// negative indices count from `extent`; `kind` says whether there are any, none is outside. Steps
/// in bytes.
using AccumulateLine = void (*)(std::byte* array, const std::int64_t* indices, std::int64_t count,
                                IndexRange kind, std::int64_t extent, std::int64_t stride,
                                const std::byte* value, std::int64_t value_step);
AccumulateLine accumulate_line(DType dtype, Accumulation how);

/// By kernels queued on the current stream; all on one GPU, no mask, and both arrays aligned to
/// their elements. Throws DTypeError.
void accumulate_on_gpu(const Selection& selection, const Array& value, Accumulation how);

}  // namespace spanwise::ops
