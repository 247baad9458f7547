// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "divisions.hpp"

#include <cstring>
#include <limits>
#include <type_traits>

#include "spanwise/core/element_words.hpp"
#include "spanwise/runtime/instruction_sets.hpp"

#if defined(__x86_64__)

#include <immintrin.h>

namespace spanwise::ops {
namespace {

#define SW_VECTOR_BYTES 32
SW_BEGIN_AVX2
namespace divide_avx2 {
#include "divide_loops.inc"
}
#undef SW_VECTOR_BYTES
#define SW_VECTOR_BYTES 64
SW_END_INSTRUCTIONS
SW_BEGIN_AVX512
namespace divide_avx512 {
#include "divide_loops.inc"
}
#undef SW_VECTOR_BYTES
SW_END_INSTRUCTIONS

SW_BEGIN_AVX2_FMA
namespace pairs_avx2 {
#include "divide_pairs.inc"
}
SW_END_INSTRUCTIONS
SW_BEGIN_AVX512
namespace pairs_avx512 {
#include "divide_pairs.inc"
// Uses `block` and rounded_down() of divide_pairs.inc.
#include "divide_integers.inc"

template <PairDivision result>
Loop find(DType dtype) noexcept {
  const Loop floats = find_divide_floats<result>(dtype);
  return floats != nullptr ? floats : find_divide_integers<result>(dtype);
}
}  // namespace pairs_avx512
SW_END_INSTRUCTIONS

template <PairDivision result>
Loop find_for_processor(DType dtype) noexcept {
  if (has_avx512()) return pairs_avx512::find<result>(dtype);
  return has_avx2_and_fma() ? pairs_avx2::find_divide_floats<result>(dtype) : nullptr;
}

}  // namespace

DivideByNumber find_divide_by_number(DType dtype, Division division) noexcept {
  if (has_avx512()) return divide_avx512::find_divide(dtype, division);
  return has_avx2() ? divide_avx2::find_divide(dtype, division) : nullptr;
}

Loop find_divide_pairs(DType dtype, PairDivision result) noexcept {
  if (result == PairDivision::quotient) return find_for_processor<PairDivision::quotient>(dtype);
  if (result == PairDivision::remainder) return find_for_processor<PairDivision::remainder>(dtype);
  return find_for_processor<PairDivision::truncated_remainder>(dtype);
}

}  // namespace spanwise::ops

#endif
