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

/// Writes the arrays, of the dtype of `target` and up to 8, to adjacent parts of it along `axis`,
/// by one kernel on its device.
void join_by_kernel(std::span<const Array> arrays, int axis, const Array& target);

// Evenly spaced numbers, bit-identical to NumPy's. On a GPU one kernel is queued.

/// start + i * step for i < count; all must be representable in `dtype`, int64 or int32.
SW_API Array integer_range(std::int64_t start, std::int64_t step, std::int64_t count,
                           DType dtype = int64, Device device = cpu);

/// numpy.arange of float64 or float32: `first` and `second` are rounded to `dtype`; the elements
/// after them are first + i * (second - first), computed in `dtype`.
SW_API Array float_range(double first, double second, std::int64_t count, DType dtype = float64,
                         Device device = cpu);

/// numpy.linspace of float64 or float32: first + i * step in float64, rounded to `dtype`, and
/// `last`, if given, at the end.
SW_API Array linear_range(double first, double step, std::optional<double> last, std::int64_t count,
                          DType dtype, Device device = cpu);

/// The same into `target`, of one of these dtypes, by a kernel on its device or by the host.
void write_integer_range(const Array& target, std::int64_t start, std::int64_t step,
                         bool by_kernel);
void write_float_range(const Array& target, double first, double second, bool by_kernel);
void write_linear_range(const Array& target, double first, double step, std::optional<double> last,
                        bool by_kernel);

/// A new C-contiguous array of the matrices in the last two axes, with zeros above `diagonal`
/// (numpy.tril), or below it (numpy.triu). One pass; throws LayoutError for fewer than two axes.
SW_API Array triangle(const Array& matrices, std::int64_t diagonal, bool keeps_lower);
/// triangle() as a kernel: elements with column - row <= last are those of the lower triangle.
/// `result` has the shape and the dtype of `matrices`, and elements.
void triangle_by_kernel(const Array& matrices, std::int64_t last, bool keeps_lower,
                        const Array& result);

}  // namespace spanwise::ops
