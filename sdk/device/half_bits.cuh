// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#ifndef SPANWISE_HALF_BITS_CUH
#define SPANWISE_HALF_BITS_CUH

// For CUDA C kernels: #include <spanwise/half_bits.cuh>. Converts the bits of IEEE 754 binary16 and
// bfloat16 to float, and float and double to those bits, without CUDA's headers. Compiled by NVRTC
// and by the host's C++ compiler, so it includes nothing. Rounds to nearest, ties to even; overflow
// gives infinity, and NaN stays NaN.

#if defined(__CUDA_ARCH__) && !defined(SW_CPU)
#define SW_ON_GPU
#endif

namespace spanwise {

__device__ inline unsigned word_of(float x) {
#ifdef SW_ON_GPU
  return __float_as_uint(x);
#else
  unsigned word;
  __builtin_memcpy(&word, &x, sizeof word);
  return word;
#endif
}
__device__ inline float float_of(unsigned word) {
#ifdef SW_ON_GPU
  return __uint_as_float(word);
#else
  float x;
  __builtin_memcpy(&x, &word, sizeof x);
  return x;
#endif
}

// Truncates to float and sets the last bit if the result is inexact (round to odd), so that
// rounding the result again to fewer bits is correct.
__device__ inline float round_to_odd_float(double x) {
#ifdef SW_ON_GPU
  const float truncated = __double2float_rz(x);
#else
  float truncated = (float)x;
  const bool is_larger =
      (truncated < 0 ? -(double)truncated : (double)truncated) > (x < 0 ? -x : x);
  if (is_larger) truncated = float_of(word_of(truncated) - 1);
#endif
  const bool is_inexact = (double)truncated != x && x == x;
  return is_inexact ? float_of(word_of(truncated) | 1u) : truncated;
}

__device__ inline float half_to_float(unsigned short bits) {
#ifdef SW_ON_GPU
  float x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
  return x;
#else
  const unsigned sign = (bits & 0x8000u) << 16, exponent = bits >> 10 & 31u,
                 mantissa = bits & 0x3ffu;
  if (exponent == 31) return float_of(sign | 0x7f800000u | mantissa << 13);
  if (exponent > 0) return float_of(sign | (exponent + 112) << 23 | mantissa << 13);
  const float x = (float)mantissa * 5.9604644775390625e-8f;  // 2^-24
  return sign != 0 ? -x : x;
#endif
}
__device__ inline unsigned short half_bits(float x) {
#ifdef SW_ON_GPU
  unsigned short bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
#else
  const unsigned word = word_of(x), sign = word >> 16 & 0x8000u, magnitude = word & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return (unsigned short)(sign | 0x7e00u);
  if (magnitude >= 0x47800000u) return (unsigned short)(sign | 0x7c00u);  // 65536
  // Numbers below the least normal number have units of 2^-24, which is also the unit of floats
  // from 0.5 on.
  if (magnitude < 0x38800000u)
    return (unsigned short)(sign | (word_of(float_of(magnitude) + 0.5f) - 0x3f000000u));
  return (unsigned short)(sign |
                          ((magnitude + 0xfffu + (magnitude >> 13 & 1u) - 0x38000000u) >> 13));
#endif
}
__device__ inline unsigned short half_bits(double x) {
#ifdef SW_ON_GPU
  unsigned short bits;
  asm("cvt.rn.f16.f64 %0, %1;" : "=h"(bits) : "d"(x));
  return bits;
#else
  return half_bits(round_to_odd_float(x));
#endif
}

__device__ inline float bfloat16_to_float(unsigned short bits) {
  return float_of((unsigned)bits << 16);
}
__device__ inline unsigned short bfloat16_bits(float x) {
  const unsigned word = word_of(x);
  const bool is_nan = (word & 0x7fffffffu) > 0x7f800000u;
  return (unsigned short)((is_nan ? word | 0x400000u : word + 0x7fffu + (word >> 16 & 1u)) >> 16);
}
__device__ inline unsigned short bfloat16_bits(double x) {
  return bfloat16_bits(round_to_odd_float(x));
}

}  // namespace spanwise

#undef SW_ON_GPU
#endif
