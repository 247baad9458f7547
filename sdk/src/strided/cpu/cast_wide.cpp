// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// The headers that cast_wide.inc uses, included here so that they are compiled without AVX.
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "spanwise/core/element_types.hpp"
#include "spanwise/runtime/instruction_sets.hpp"
#include "strided/cpu/block_kernels.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

namespace spanwise::strided {
namespace {

// Every processor with AVX2 has F16C, whose conversions round as Half does.
SW_BEGIN_INSTRUCTIONS("avx2,f16c", "")
namespace avx2_casts {
constexpr int half_lanes = 8;
inline void store_widened(const Half* source, float* target) {
  _mm256_storeu_ps(target,
                   _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(source))));
}
inline void store_narrowed(const float* source, Half* target) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(target),
                   _mm256_cvtps_ph(_mm256_loadu_ps(source), _MM_FROUND_TO_NEAREST_INT));
}
#include "strided/cpu/cast_wide.inc"
}  // namespace avx2_casts
SW_END_INSTRUCTIONS

SW_BEGIN_AVX512
namespace avx512_casts {
constexpr int half_lanes = 16;
inline void store_widened(const Half* source, float* target) {
  _mm512_storeu_ps(
      target,
      _mm512_maskz_cvtph_ps(0xffff, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(source))));
}
inline void store_narrowed(const float* source, Half* target) {
  _mm256_storeu_si256(
      reinterpret_cast<__m256i*>(target),
      _mm512_maskz_cvtps_ph(0xffff, _mm512_loadu_ps(source), _MM_FROUND_TO_NEAREST_INT));
}
#include "strided/cpu/cast_wide.inc"
}  // namespace avx512_casts
SW_END_INSTRUCTIONS

}  // namespace

BlockKernel avx2_cast(DType from, DType to) { return avx2_casts::wide_cast(from, to); }
BlockKernel avx512_cast(DType from, DType to) { return avx512_casts::wide_cast(from, to); }

}  // namespace spanwise::strided
#endif
