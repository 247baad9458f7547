// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "spanwise/array.hpp"
#include "spanwise/export.hpp"

namespace spanwise::ops {

enum class Side { left, right };

/// Where in `line`, a vector in ascending order with NaN at the end, each of `wanted` belongs, as
/// numpy.searchsorted: before the elements that equal it, or after them. An int64 array of the
/// shape of `wanted`, on the device of both; queued there on the current stream on a GPU. Both are
/// cast to what promote() says. Throws DTypeError for complex numbers, LayoutError where `line` is
/// no vector.
SW_API Array search_sorted(const Array& line, const Array& wanted, Side side);

/// The same by the GPU's kernel, for arrays of one computable dtype that is neither bool nor of 16
/// bits floating, aligned and C-contiguous; into `places`, likewise.
void search_by_kernel(const Array& line, const Array& wanted, Side side, const Array& places);

/// Its text: CUDA C with `search`, compiled for one dtype.
std::string search_source(DType dtype, Side side);

}  // namespace spanwise::ops
