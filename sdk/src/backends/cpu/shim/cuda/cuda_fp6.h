// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// FP6: E3M2 and E2M3, one number in a byte.

#include "spanwise_small_formats.h"

typedef unsigned char __nv_fp6_storage_t;
typedef unsigned short __nv_fp6x2_storage_t;
typedef unsigned __nv_fp6x4_storage_t;
enum __nv_fp6_interpretation_t { __NV_E2M3, __NV_E3M2 };

SW_FN sw_format sw_fp6_format(__nv_fp6_interpretation_t kind) {
  return kind == __NV_E2M3 ? sw_e2m3 : sw_e3m2;
}
#define SW_CONVERT(name, From, name2, From2)                                                      \
  SW_FN __nv_fp6_storage_t __nv_cvt_##name##_to_fp6(From x, __nv_fp6_interpretation_t kind,       \
                                                    cudaRoundMode) {                              \
    return sw_encoded(sw_number(x), sw_fp6_format(kind));                                         \
  }                                                                                               \
  SW_FN __nv_fp6x2_storage_t __nv_cvt_##name2##_to_fp6x2(From2 x, __nv_fp6_interpretation_t kind, \
                                                         cudaRoundMode rounding) {                \
    return __nv_cvt_##name##_to_fp6(From{x.x}, kind, rounding) |                                  \
           __nv_cvt_##name##_to_fp6(From{x.y}, kind, rounding) << 8;                              \
  }
SW_CONVERT_ALL(SW_CONVERT)
#undef SW_CONVERT
SW_FN __half_raw __nv_cvt_fp6_to_halfraw(__nv_fp6_storage_t x, __nv_fp6_interpretation_t kind) {
  return sw_decoded_half(x, sw_fp6_format(kind));
}
SW_FN __half2_raw __nv_cvt_fp6x2_to_halfraw2(__nv_fp6x2_storage_t x,
                                             __nv_fp6_interpretation_t kind) {
  return {__nv_cvt_fp6_to_halfraw(x & 0xff, kind).x, __nv_cvt_fp6_to_halfraw(x >> 8, kind).x};
}

SW_FN unsigned sw_encoded_e3m2(double x) { return sw_encoded(x, sw_e3m2); }
SW_FN float sw_decoded_e3m2(unsigned code) { return sw_decoded(code, sw_e3m2); }
SW_FORMAT_TYPES(__nv_fp6_e3m2, __nv_fp6x2_e3m2, __nv_fp6x4_e3m2, __nv_fp6_storage_t,
                __nv_fp6x2_storage_t, __nv_fp6x4_storage_t, 8, sw_encoded_e3m2, sw_decoded_e3m2)

SW_FN unsigned sw_encoded_e2m3(double x) { return sw_encoded(x, sw_e2m3); }
SW_FN float sw_decoded_e2m3(unsigned code) { return sw_decoded(code, sw_e2m3); }
SW_FORMAT_TYPES(__nv_fp6_e2m3, __nv_fp6x2_e2m3, __nv_fp6x4_e2m3, __nv_fp6_storage_t,
                __nv_fp6x2_storage_t, __nv_fp6x4_storage_t, 8, sw_encoded_e2m3, sw_decoded_e2m3)
