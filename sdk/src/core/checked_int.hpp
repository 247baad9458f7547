// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>

#include "spanwise/core/layout.hpp"

/// Overflow-safe integer arithmetic for layouts from other libraries, which may contain any number.
namespace spanwise::core {

inline std::int64_t saturating_add(std::int64_t a, std::int64_t b) noexcept {
  std::int64_t sum;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b < 0 ? std::numeric_limits<std::int64_t>::min()
               : std::numeric_limits<std::int64_t>::max();
}

inline std::int64_t saturating_multiply(std::int64_t a, std::int64_t b) noexcept {
  std::int64_t product;
  if (!__builtin_mul_overflow(a, b, &product)) return product;
  return (a < 0) != (b < 0) ? std::numeric_limits<std::int64_t>::min()
                            : std::numeric_limits<std::int64_t>::max();
}

/// |a|; INT64_MAX for INT64_MIN.
inline std::int64_t magnitude(std::int64_t a) noexcept {
  return a >= 0                                          ? a
         : a == std::numeric_limits<std::int64_t>::min() ? std::numeric_limits<std::int64_t>::max()
                                                         : -a;
}

/// Throws LayoutError unless every extent is >= 0, the rank at most max_rank, and the product of
/// the non-zero extents fits in 63 bits.
void check_shape(const Shape& shape);

}  // namespace spanwise::core
