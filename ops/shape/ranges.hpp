// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "spanwise/core/array.hpp"
#include "spanwise/core/export.hpp"

/// Evenly spaced numbers as arrays on the CPU, bit-identical to NumPy's.
namespace spanwise::ops {

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
