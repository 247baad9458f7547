// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "elementwise_loops.hpp"
#include "spanwise/core/element_types.hpp"

// Loops of integers that the compiler does not vectorize: powers, and divisions by a number.

#if defined(__x86_64__)

#include <immintrin.h>

namespace spanwise::ops {
namespace {

#define SW_VECTOR_BYTES 32
SW_BEGIN_AVX2
namespace integers_avx2 {
#include "integer_loops.inc"
}
SW_END_INSTRUCTIONS
#undef SW_VECTOR_BYTES
#define SW_VECTOR_BYTES 64
SW_BEGIN_AVX512
namespace integers_avx512 {
#include "integer_loops.inc"
}
SW_END_INSTRUCTIONS
#undef SW_VECTOR_BYTES

}  // namespace

CpuLoops find_integer_power(DType dtype) noexcept {
  if (has_avx512()) return integers_avx512::find_powers(dtype);
  return has_avx2() ? integers_avx2::find_powers(dtype) : CpuLoops();
}

DivideByNumber find_divide_by_number(DType dtype, Division division) noexcept {
  if (has_avx512()) return integers_avx512::find_divide(dtype, division);
  return has_avx2() ? integers_avx2::find_divide(dtype, division) : nullptr;
}

}  // namespace spanwise::ops

#else

namespace spanwise::ops {
CpuLoops find_integer_power(DType) noexcept { return {}; }
DivideByNumber find_divide_by_number(DType, Division) noexcept { return nullptr; }
}  // namespace spanwise::ops

#endif
