// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "spanwise/core/array.hpp"
#include "spanwise/core/dtype.hpp"
#include "spanwise/core/export.hpp"

namespace spanwise::ops {

/// The dtype of the joined arrays: `dtype`, else their promoted dtype. Throws ArgumentError if
/// there are no arrays, DeviceError if they are on several devices, and DTypeError if their dtypes
/// have no common one.
SW_API DType common_dtype(std::span<const Array> arrays, std::optional<DType> dtype);

/// The shape of arrays of these shapes, in which extents of -1 are unknown, joined along `axis`.
/// Throws LayoutError unless ranks and all other extents are equal, or if the sum of the extents
/// overflows.
Shape joined_shape(std::span<const Shape> shapes, int axis);

/// numpy.concatenate into a new C-contiguous array, or into `out`, which may overlap the arrays.
/// Throws LayoutError if the shapes do not match, and what copy() throws.
SW_API Array concatenate(std::span<const Array> arrays, int axis, DType dtype);
SW_API void concatenate_into(std::span<const Array> arrays, int axis, const Array& out);

// Evenly spaced numbers as arrays on the CPU, bit-identical to NumPy's.

/// start + i * step for i < count; all must be representable in `dtype`, int64 or int32.
SW_API Array integer_range(std::int64_t start, std::int64_t step, std::int64_t count,
                           DType dtype = int64);

/// numpy.arange of float64 or float32: `first` and `second` are rounded to `dtype`; the elements
/// after them are first + i * (second - first), computed in `dtype`.
SW_API Array float_range(double first, double second, std::int64_t count, DType dtype = float64);

/// numpy.linspace of float64 or float32: first + i * step in float64, rounded to `dtype`, and
/// `last`, if given, at the end.
SW_API Array linear_range(double first, double step, std::optional<double> last, std::int64_t count,
                          DType dtype);

}  // namespace spanwise::ops
