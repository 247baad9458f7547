// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "../table.hpp"
#include "spanwise/runtime/instruction_sets.hpp"

namespace spanwise::ops {

/// Computes n elements. `arrays` are the operands and then the result, each aligned and one element
/// after the other; the result may be the very memory of an operand whose items are as large.
using Loop = void (*)(const void* context, std::int64_t n, std::byte* const* arrays);

/// The same of arrays in steps of bytes, any sign, 0 too.
using StridedLoop = void (*)(std::int64_t n, std::byte* const* arrays, const std::int64_t* steps);

struct CpuKernel {
  Loop loop = nullptr;
  const void* context = nullptr;
  Loop with_number = nullptr;     ///< operands after the first are one element; may be missing
  StridedLoop strided = nullptr;  ///< may be missing
  /// Elements that are worth a thread of their own.
  std::int64_t grain = 1 << 15;

  void operator()(std::int64_t n, std::byte* const* arrays) const { loop(context, n, arrays); }
};

/// For the processor at hand. The 16-bit floats have kernels only where the table says
/// native_halves; others compute in float32: see cpu_compute().
CpuKernel find_cpu_kernel(const Signature& signature);

/// The same, found once for each operation and dtype.
const CpuKernel& cpu_kernel_for(const Signature& signature);

/// The operation that gives the same, bit by bit, when its two operands change places.
std::optional<OpId> turned_around(OpId op) noexcept;

/// What a CPU kernel takes in the place of `dtype`.
inline DType cpu_compute(const Signature& signature, DType dtype) noexcept {
  const bool is_half = dtype == float16 || dtype == bfloat16;
  return is_half && (facts(signature.op).traits & native_halves) == 0 ? float32 : dtype;
}

/// Loops in AVX2 or AVX-512; a kernel without loop where the processor has none, or they would
/// bring nothing.
CpuKernel find_wide_loops(OpId op, DType dtype);

/// exp of float32 or float64, at most 1.1 units in the last place from the truth; nullptr for
/// others, and where the processor has no vector unit with fused multiplication.
Loop find_vector_exp(DType dtype) noexcept;

/// Powers of float32 or float64, at most 1.2 units in the last place from the truth; a kernel
/// without loop for others, and where the processor has no AVX-512.
CpuKernel find_vector_power(DType dtype) noexcept;
/// Of float32, in a file of its own.
CpuKernel find_vector_power_of_floats() noexcept;

/// Powers of integers; a kernel without loop for others, and where the processor has no AVX2. Where
/// an exponent is negative it calls the Loop that its context points to.
CpuKernel find_integer_power(DType dtype) noexcept;

/// Loops over the vector functions of the C library (libmvec), at most 4 units in the last place
/// from the truth; a kernel without loop where there is none, or no such library.
CpuKernel find_vector_function(OpId op, DType dtype) noexcept;

}  // namespace spanwise::ops
