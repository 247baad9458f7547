// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "spanwise/core/array.hpp"
#include "spanwise/core/export.hpp"

namespace spanwise::ops {

enum class Side { left, right };

/// numpy.searchsorted: the index in `sorted`, a vector in ascending order with NaN at the end, at
/// which each of `values` would be inserted, before or after the elements that equal it. An int64
/// array of the shape of `values`, on the device of both; queued on the current stream of a GPU.
/// Both are cast to their promoted dtype. Throws DTypeError for complex numbers, LayoutError if
/// `sorted` is not a vector.
SW_API Array search_sorted(const Array& sorted, const Array& values, Side side);

/// The same on each device, written to `positions`. All arrays are aligned and C-contiguous;
/// `sorted` and `values` have one computable dtype, which is not bool or a 16-bit float.
void search_on_host(const Array& sorted, const Array& values, Side side, const Array& positions);
void search_by_kernel(const Array& sorted, const Array& values, Side side, const Array& positions);

/// CUDA C with the kernel `search` for one dtype.
std::string search_source(DType dtype, Side side);

}  // namespace spanwise::ops
