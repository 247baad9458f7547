// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "../elementwise_table.hpp"
#include "spanwise/core/dtype.hpp"
#include "spanwise/runtime/instruction_sets.hpp"
#include "spanwise/strided/cpu_loop.hpp"

/// Marks a loop without dependences between iterations, so that the compiler may vectorize it.
/// In-place loops only read element i before they write element i.
#if defined(__clang__)
#define SW_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define SW_INDEPENDENT _Pragma("GCC ivdep")
#endif

/// The loops of elementwise operations on the CPU.
namespace spanwise::ops {

using Loop = strided::CpuBody::Loop;
using StridedLoop = strided::CpuBody::StridedLoop;
/// The loops of an operation. Functions below return them with a null `loop` if there are none.
using CpuLoops = strided::CpuBody;

/// The loops for this processor. 16-bit floats have loops only for operations with native_halves;
/// others are computed in float32, see loop_dtype().
CpuLoops find_cpu_loops(const OpSignature& signature);

/// The same, cached per operation and dtype.
const CpuLoops& cpu_loops_for(const OpSignature& signature);

/// Loops in AVX2 or AVX-512; none if the processor has neither or they are not faster.
CpuLoops find_wide_loops(OpId op, DType dtype);

/// exp() is 0 below exp_low and infinite above exp_high.
template <class T>
inline constexpr T exp_low = sizeof(T) == 4 ? -104 : -746;
template <class T>
inline constexpr T exp_high = sizeof(T) == 4 ? 89 : 710;

/// exp of float32 or float64 with an error of at most 1.1 ulp; nullptr for other dtypes, and if the
/// processor has no vector unit with fused multiplication.
Loop find_vector_exp(DType dtype) noexcept;

/// Softmax of n elements, or its logarithm: of a contiguous row, and of `columns` columns, at most
/// max_softmax_columns, that are side by side, with rows `step` elements apart. Sums are in
/// float64.
struct SoftmaxLoops {
  void (*row)(const void* x, std::int64_t n, void* z) = nullptr;
  void (*columns)(const void* x, std::int64_t n, std::int64_t step, std::int64_t columns,
                  void* z) = nullptr;
};
inline constexpr std::int64_t max_softmax_columns = 512;
/// Those for float32 or float64; null for other dtypes, and as for find_vector_exp().
SoftmaxLoops find_softmax(DType dtype, bool is_logarithm) noexcept;

/// Powers of float32 or float64 with an error of at most 1.2 ulp; none for other dtypes, and if the
/// processor has no AVX-512.
CpuLoops find_vector_power(DType dtype) noexcept;

/// Powers of integers; none for other dtypes, and if the processor has no AVX2. The caller sets the
/// context to the address of a Loop, which is called if there is a negative exponent.
CpuLoops find_integer_power(DType dtype) noexcept;

/// Loops over the vector functions of the C library (libmvec) with an error of at most 4 ulp; none
/// if there is no such function or library.
CpuLoops find_vector_function(OpId op, DType dtype) noexcept;

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
