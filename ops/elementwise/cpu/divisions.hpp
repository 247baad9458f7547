// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "cpu_loops.hpp"
#include "spanwise/core/dtype.hpp"

namespace spanwise::ops {

/// A divisor d and the factor for a multiplication that replaces the division, which would take ten
/// times as long. T. Granlund, P. L. Montgomery, "Division by Invariant Integers using
/// Multiplication" (1994): with 2^(k-1) < d <= 2^k the quotient of n < 2^bits is the integer part
/// of n * ceil(2^(bits + k) / d) / 2^(bits + k), bits <= 63. Negative quotients are rounded down by
/// means of ~a = -a - 1. For the divisor -d the quotient is -(a // d), minus 1 if the remainder is
/// not 0, and the remainder is then a % d - d.
struct Divisor {
  Divisor(std::uint64_t divisor, int bits) noexcept
      : d(divisor),
        k(d == 1 ? 0 : 64 - __builtin_clzll(d - 1)),
        factor(static_cast<std::uint64_t>(((Wide{1} << (bits + k)) + (d - 1)) / d)) {}

  typedef unsigned __int128 Wide;
  std::uint64_t d;
  int k;
  std::uint64_t factor;  ///< less than 2^(bits + 1) if d < 2^bits
};

/// The result of the division of a[i] by a number, whose absolute value is passed: the quotient
/// rounded towards minus infinity, or the remainder with the sign of the number (Python's rule).
enum class Division { quotient, remainder, negative_quotient, negative_remainder };

/// Divides n elements by a number of their dtype other than 0, whose absolute value is `d`. z may
/// be a.
using DivideByNumber = void (*)(std::int64_t n, const void* a, std::uint64_t d, void* z);

/// The loop for the processor's vector unit; nullptr if it has none, or for other dtypes.
DivideByNumber find_divide_by_number(DType dtype, Division division) noexcept;

/// The result of the division of two arrays: the quotient rounded towards minus infinity, its
/// remainder, or the remainder of the quotient truncated towards 0.
enum class PairDivision { quotient, remainder, truncated_remainder };

/// The loop for the processor's vector unit, which calls scalar_loop of its context, a
/// DivisionContext, for blocks that it cannot compute. nullptr if it has none, or for other dtypes.
Loop find_divide_pairs(DType dtype, PairDivision result) noexcept;

/// The context of the kernels of divisions.
struct DivisionContext {
  DivideByNumber by_positive, by_negative;  ///< may be null
  Loop scalar_loop;
};

}  // namespace spanwise::ops
