// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "cpu_loops.hpp"
#include "spanwise/core/element_words.hpp"

#if defined(__x86_64__)

#include <immintrin.h>

namespace spanwise::ops {
namespace {

#define SW_VECTOR_BYTES 32
SW_BEGIN_AVX2
namespace integer_powers_avx2 {
#include "integer_powers.inc"
}
#undef SW_VECTOR_BYTES
#define SW_VECTOR_BYTES 64
SW_END_INSTRUCTIONS
SW_BEGIN_AVX512
namespace integer_powers_avx512 {
#include "integer_powers.inc"
}
#undef SW_VECTOR_BYTES
SW_END_INSTRUCTIONS

}  // namespace

CpuLoops find_integer_power(DType dtype) noexcept {
  if (has_avx512()) return integer_powers_avx512::find_powers(dtype);
  return has_avx2() ? integer_powers_avx2::find_powers(dtype) : CpuLoops();
}

}  // namespace spanwise::ops

#endif
