// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// FP8: E4M3 and E5M2, and E8M0, the powers of two that scale blocks.

#include "spanwise_small_formats.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned __nv_fp8x4_storage_t;
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };

SW_FN sw_format sw_fp8_format(__nv_fp8_interpretation_t kind) {
  return kind == __NV_E4M3 ? sw_e4m3 : sw_e5m2;
}
#define SW_CONVERT(name, From, name2, From2)                                                  \
  SW_FN __nv_fp8_storage_t __nv_cvt_##name##_to_fp8(From x, __nv_saturation_t saturate,       \
                                                    __nv_fp8_interpretation_t kind) {         \
    return sw_encoded(sw_number(x), sw_fp8_format(kind), saturate == __NV_SATFINITE);         \
  }                                                                                           \
  SW_FN __nv_fp8x2_storage_t __nv_cvt_##name2##_to_fp8x2(From2 x, __nv_saturation_t saturate, \
                                                         __nv_fp8_interpretation_t kind) {    \
    return __nv_cvt_##name##_to_fp8(From{x.x}, saturate, kind) |                              \
           __nv_cvt_##name##_to_fp8(From{x.y}, saturate, kind) << 8;                          \
  }
SW_CONVERT_ALL(SW_CONVERT)
#undef SW_CONVERT
SW_FN __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t x, __nv_fp8_interpretation_t kind) {
  return sw_decoded_half(x, sw_fp8_format(kind));
}
SW_FN __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t x,
                                             __nv_fp8_interpretation_t kind) {
  return {__nv_cvt_fp8_to_halfraw(x & 0xff, kind).x, __nv_cvt_fp8_to_halfraw(x >> 8, kind).x};
}

// The power of two of |x|, from 2^-127 on, rounded down or up; 0xff is NaN.
SW_FN unsigned sw_encoded_e8m0(double x, bool saturates = true, bool rounds_up = true) {
  if (x != x) return 0xff;
  const auto bits = sw_bits<unsigned long long>(__builtin_fabs(x));
  const bool is_inexact = (bits & 0xfffffffffffffull) != 0;
  const int code = (int)(bits >> 52) - 1023 + 127 + (rounds_up && is_inexact ? 1 : 0);
  const int highest = saturates || (!rounds_up && !__builtin_isinf(x)) ? 0xfe : 0xff;
  return (unsigned)(code < 0 ? 0 : code > highest ? highest : code);
}
SW_FN float sw_decoded_e8m0(unsigned code) {
  if (code == 0xff) return __builtin_nanf("");
  return sw_bits<float>(code == 0 ? 0x400000u : code << 23);
}
#define SW_CONVERT(name, From, name2, From2)                                                       \
  SW_FN __nv_fp8_storage_t __nv_cvt_##name##_to_e8m0(From x, __nv_saturation_t saturate,           \
                                                     cudaRoundMode rounding) {                     \
    return sw_encoded_e8m0(sw_number(x), saturate == __NV_SATFINITE, rounding == cudaRoundPosInf); \
  }                                                                                                \
  SW_FN __nv_fp8x2_storage_t __nv_cvt_##name2##_to_e8m0x2(From2 x, __nv_saturation_t saturate,     \
                                                          cudaRoundMode rounding) {                \
    return __nv_cvt_##name##_to_e8m0(From{x.x}, saturate, rounding) |                              \
           __nv_cvt_##name##_to_e8m0(From{x.y}, saturate, rounding) << 8;                          \
  }
SW_CONVERT(double, double, double2, double2)
SW_CONVERT(float, float, float2, float2)
SW_CONVERT(bfloat16raw, __nv_bfloat16_raw, bfloat162raw, __nv_bfloat162_raw)
#undef SW_CONVERT
SW_FN __nv_bfloat16_raw __nv_cvt_e8m0_to_bf16raw(__nv_fp8_storage_t x) {
  if (x == 0xff) return {0x7fff};
  return __nv_bfloat16(sw_decoded_e8m0(x));
}
SW_FN __nv_bfloat162_raw __nv_cvt_e8m0x2_to_bf162raw(__nv_fp8x2_storage_t x) {
  return {__nv_cvt_e8m0_to_bf16raw(x & 0xff).x, __nv_cvt_e8m0_to_bf16raw(x >> 8).x};
}

#define SW_FP8_TYPES(suffix, encode, decode)                                                       \
  SW_FORMAT_TYPES(__nv_fp8_##suffix, __nv_fp8x2_##suffix, __nv_fp8x4_##suffix, __nv_fp8_storage_t, \
                  __nv_fp8x2_storage_t, __nv_fp8x4_storage_t, 8, encode, decode)
SW_FN unsigned sw_encoded_e4m3(double x) { return sw_encoded(x, sw_e4m3); }
SW_FN float sw_decoded_e4m3(unsigned code) { return sw_decoded(code, sw_e4m3); }
SW_FN unsigned sw_encoded_e5m2(double x) { return sw_encoded(x, sw_e5m2); }
SW_FN float sw_decoded_e5m2(unsigned code) { return sw_decoded(code, sw_e5m2); }
SW_FP8_TYPES(e4m3, sw_encoded_e4m3, sw_decoded_e4m3)
SW_FP8_TYPES(e5m2, sw_encoded_e5m2, sw_decoded_e5m2)
SW_FP8_TYPES(e8m0, sw_encoded_e8m0, sw_decoded_e8m0)
#undef SW_FP8_TYPES
