// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <limits>
#include <type_traits>

#include "../independent.hpp"
#include "divisions.hpp"
#include "spanwise/element_words.hpp"

#if defined(__x86_64__)

namespace spanwise::ops {
namespace {

SW_BEGIN_AVX2_FMA
namespace pairs_avx2 {
#include "divide_pairs.inc"
}
SW_END_INSTRUCTIONS
SW_BEGIN_AVX512
namespace pairs_avx512 {
#include "divide_pairs.inc"
// Uses divide_pairs.inc.
#include "divide_integers.inc"

template <PairDivision wanted>
Loop find(DType dtype) noexcept {
  const Loop floats = find_divide_floats<wanted>(dtype);
  return floats != nullptr ? floats : find_divide_integers<wanted>(dtype);
}
}  // namespace pairs_avx512
SW_END_INSTRUCTIONS

template <PairDivision wanted>
Loop find_for_processor(DType dtype) noexcept {
  if (has_avx512()) return pairs_avx512::find<wanted>(dtype);
  return has_avx2_and_fma() ? pairs_avx2::find_divide_floats<wanted>(dtype) : nullptr;
}

}  // namespace

Loop find_divide_pairs(DType dtype, PairDivision wanted) noexcept {
  if (wanted == PairDivision::quotient) return find_for_processor<PairDivision::quotient>(dtype);
  if (wanted == PairDivision::remainder) return find_for_processor<PairDivision::remainder>(dtype);
  return find_for_processor<PairDivision::truncated_remainder>(dtype);
}

}  // namespace spanwise::ops

#endif
