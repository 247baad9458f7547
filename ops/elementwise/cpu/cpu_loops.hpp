// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "../table.hpp"
#include "spanwise/runtime/instruction_sets.hpp"
#include "spanwise/strided/cpu_loop.hpp"

/// Marks a loop without dependences between iterations, so that the compiler may vectorize it.
/// In-place loops only read element i before they write element i.
#if defined(__clang__)
#define SW_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define SW_INDEPENDENT _Pragma("GCC ivdep")
#endif

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

/// Powers of float32 or float64 with an error of at most 1.2 ulp; none for other dtypes, and if the
/// processor has no AVX-512.
CpuLoops find_vector_power(DType dtype) noexcept;

/// Powers of integers; none for other dtypes, and if the processor has no AVX2. The caller sets the
/// context to the address of a Loop, which is called if there is a negative exponent.
CpuLoops find_integer_power(DType dtype) noexcept;

/// Loops over the vector functions of the C library (libmvec) with an error of at most 4 ulp; none
/// if there is no such function or library.
CpuLoops find_vector_function(OpId op, DType dtype) noexcept;

}  // namespace spanwise::ops
