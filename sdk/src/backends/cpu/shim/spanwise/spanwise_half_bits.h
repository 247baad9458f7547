// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Converts the bits of an IEEE 754 binary16 to float and back, rounded to nearest, ties to even.

typedef float sw_float4 __attribute__((vector_size(16)));
typedef short sw_short8 __attribute__((vector_size(16)));

SW_FN unsigned short sw_half_from_float(float value) {
#if defined(__F16C__)
  return (unsigned short)__builtin_ia32_vcvtps2ph((sw_float4){value, 0, 0, 0}, 0)[0];
#else
  const unsigned bits = sw_bits<unsigned>(value), sign = bits >> 16 & 0x8000u,
                 magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u)
    return (unsigned short)(sign | 0x7e00u | (magnitude >> 13 & 0x1ffu));  // NaN
  if (magnitude >= 0x477ff000u)
    return (unsigned short)(sign | 0x7c00u);  // 65520 and more: infinity
  if (magnitude < 0x38800000u) {              // below 2^-14: subnormal
    // Units of the result, 2^-24, are the last bits of floats in [0.5, 1); the sum is rounded to
    // them.
    const float shifted = sw_bits<float>(magnitude) + 0.5f;
    return (unsigned short)(sign | (sw_bits<unsigned>(shifted) - 0x3f000000u));
  }
  const unsigned rounded = magnitude + 0xfffu + (magnitude >> 13 & 1u);
  // The exponent's bias changes from 127 to 15.
  return (unsigned short)(sign | (rounded - 0x38000000u) >> 13);
#endif
}
SW_FN float sw_half_to_float(unsigned short half) {
#if defined(__F16C__)
  return __builtin_ia32_vcvtph2ps((sw_short8){(short)half, 0, 0, 0, 0, 0, 0, 0})[0];
#else
  const unsigned sign = (half & 0x8000u) << 16, exponent = half >> 10 & 0x1fu,
                 mantissa = half & 0x3ffu;
  if (exponent == 0x1fu) return sw_bits<float>(sign | 0x7f800000u | mantissa << 13);
  if (exponent == 0) return sw_bits<float>(sign | sw_bits<unsigned>((float)mantissa * 0x1p-24f));
  return sw_bits<float>(sign | (exponent + 112u) << 23 | mantissa << 13);
#endif
}

// `value` as a float, rounded to odd: an inexact result is the neighbour with an odd last bit
// (Boldo and Melquiond 2008). Rounding it again to fewer bits gives the same result as rounding
// `value`.
SW_FN float sw_round_to_odd(double value) {
  const float nearest = (float)value;
  const unsigned bits = sw_bits<unsigned>(nearest);
  if ((double)nearest == value || value != value || (bits & 1u) != 0) return nearest;
  const bool away = __builtin_fabs((double)nearest) < __builtin_fabs(value);
  return sw_bits<float>(away ? bits + 1 : bits - 1);
}
