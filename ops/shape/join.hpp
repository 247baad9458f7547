// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>

#include "spanwise/array.hpp"
#include "spanwise/dtype.hpp"
#include "spanwise/export.hpp"

namespace spanwise::ops {

/// What joined arrays become: `dtype`, else what NumPy promotes theirs to. All must be on one
/// device. Throws ArgumentError for no arrays or several devices, DTypeError.
SW_API DType common_dtype(std::span<const Array> arrays, std::optional<DType> dtype);

/// The shape of the arrays one after the other along `axis`. Throws LayoutError where they do not
/// fit.
SW_API Shape joined_shape(std::span<const Array> arrays, int axis);

/// numpy.concatenate into a new C-contiguous array, or into `out`, which may overlap the arrays.
/// Throws LayoutError where the shapes do not fit, and as copy().
SW_API Array concatenate(std::span<const Array> arrays, int axis, DType dtype);
SW_API void concatenate_into(std::span<const Array> arrays, int axis, const Array& out);

}  // namespace spanwise::ops
