// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "spanwise/array.hpp"
#include "spanwise/export.hpp"

namespace spanwise::ops {

/// numpy.repeat along `axis`: a new C-contiguous array on the array's device. Throws ArgumentError
/// for negative `times`.
SW_API Array repeat(const Array& array, std::int64_t times, int axis);
/// The same with a number per slice: integers of rank 0 or 1, read on the host (downloaded from a
/// GPU). Throws DTypeError, LayoutError, ArgumentError.
SW_API Array repeat(const Array& array, const Array& times, int axis);

}  // namespace spanwise::ops
