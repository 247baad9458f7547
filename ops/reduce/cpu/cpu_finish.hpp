// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "spanwise/core/dtype.hpp"

namespace spanwise::ops::reduce {

/// Adds 0 to each value, which makes 0 of -0; integers stay as they are.
void add_zero(DType dtype, void* values, std::int64_t n);
/// values[i] /= divisors[i]; values are float64, complex128 or int64 (which become float64).
void divide(DType dtype, void* values, const double* divisors, std::int64_t n);
/// The square root of float64 values.
void take_roots(double* values, std::int64_t n);
/// values[i] -= subtrahends[i * step]; the values are of `dtype`, the subtrahends of `stored`.
void subtract(DType dtype, void* values, DType stored, const std::byte* subtrahends,
              std::int64_t step, std::int64_t n);
/// Writes values of `from` as `to`, `step` elements apart; see can_store().
void store(DType from, const void* values, std::int64_t n, DType to, std::byte* out,
           std::int64_t step);

}  // namespace spanwise::ops::reduce
