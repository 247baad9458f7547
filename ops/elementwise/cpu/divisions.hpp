// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "cpu_kernels.hpp"
#include "spanwise/dtype.hpp"

namespace spanwise::ops {

/// Integers by one number: a multiplication instead of a division, which takes a processor
/// ten times as long. T. Granlund, P. L. Montgomery, "Division by Invariant Integers using
/// Multiplication" (1994): with 2^(k-1) < d <= 2^k the quotient of n < 2^b is the integer part of
/// n * ceil(2^(b + k) / d) / 2^(b + k). Below zero it is rounded down by way of ~a = -a - 1.
/// By -d the quotient is -(a // d), less 1 where there is a rest, and the rest then a % d - d.
///
/// d, and what stands for it in a multiplication of numbers below 2^bits, bits <= 63.
struct Divisor {
  Divisor(std::uint64_t divisor, int bits) noexcept
      : d(divisor),
        k(d == 1 ? 0 : 64 - __builtin_clzll(d - 1)),
        factor(static_cast<std::uint64_t>(((Wide{1} << (bits + k)) + (d - 1)) / d)) {}

  typedef unsigned __int128 Wide;
  std::uint64_t d;
  int k;
  std::uint64_t factor;  // less than 2^(bits + 1) where d < 2^bits
};

/// What is wanted of a[i] and a number, of which |number| is given: the quotient towards minus
/// infinity, or the rest, of the number's sign (Python's rule).
enum class Division { quotient, rest, negative_quotient, negative_rest };

/// Of n elements. `d` is not 0; the number is of their dtype. z may be a.
using DivideByNumber = void (*)(std::int64_t n, const void* a, std::uint64_t d, void* z);

/// For the processor's vector units; nullptr where it has none, or not for this dtype.
DivideByNumber find_divide_by_number(DType dtype, Division division) noexcept;

/// What is wanted of elements of two arrays: the quotient towards minus infinity, its rest, or the
/// rest of the quotient towards 0.
enum class PairDivision { quotient, rest, rest_to_0 };

/// In the processor's vector units, and what these cannot do by context's one_by_one: the context
/// is a DivisionContext. nullptr where it has none, or not for this dtype.
Loop find_divide_pairs(DType dtype, PairDivision wanted) noexcept;

/// What the kernels of divisions are given.
struct DivisionContext {
  DivideByNumber by_positive, by_negative;  ///< nullptr where there are none
  Loop one_by_one;
};

}  // namespace spanwise::ops
