// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// FP4: E2M1, two numbers in a byte.

#include "spanwise_small_formats.h"

typedef unsigned char __nv_fp4_storage_t;
typedef unsigned char __nv_fp4x2_storage_t;
typedef unsigned short __nv_fp4x4_storage_t;
enum __nv_fp4_interpretation_t { __NV_E2M1 };

SW_FN sw_format sw_fp4_format(__nv_fp4_interpretation_t) { return sw_e2m1; }
#define SW_CONVERT(name, From, name2, From2)                                                      \
  SW_FN __nv_fp4_storage_t __nv_cvt_##name##_to_fp4(From x, __nv_fp4_interpretation_t kind,       \
                                                    cudaRoundMode) {                              \
    return sw_encoded(sw_number(x), sw_fp4_format(kind));                                         \
  }                                                                                               \
  SW_FN __nv_fp4x2_storage_t __nv_cvt_##name2##_to_fp4x2(From2 x, __nv_fp4_interpretation_t kind, \
                                                         cudaRoundMode rounding) {                \
    return __nv_cvt_##name##_to_fp4(From{x.x}, kind, rounding) |                                  \
           __nv_cvt_##name##_to_fp4(From{x.y}, kind, rounding) << 4;                              \
  }
SW_CONVERT_ALL(SW_CONVERT)
#undef SW_CONVERT
SW_FN __half_raw __nv_cvt_fp4_to_halfraw(__nv_fp4_storage_t x, __nv_fp4_interpretation_t kind) {
  return sw_decoded_half(x, sw_fp4_format(kind));
}
SW_FN __half2_raw __nv_cvt_fp4x2_to_halfraw2(__nv_fp4x2_storage_t x,
                                             __nv_fp4_interpretation_t kind) {
  return {__nv_cvt_fp4_to_halfraw(x & 0xf, kind).x, __nv_cvt_fp4_to_halfraw(x >> 4, kind).x};
}

SW_FN unsigned sw_encoded_e2m1(double x) { return sw_encoded(x, sw_e2m1); }
SW_FN float sw_decoded_e2m1(unsigned code) { return sw_decoded(code, sw_e2m1); }
SW_FORMAT_TYPES(__nv_fp4_e2m1, __nv_fp4x2_e2m1, __nv_fp4x4_e2m1, __nv_fp4_storage_t,
                __nv_fp4x2_storage_t, __nv_fp4x4_storage_t, 4, sw_encoded_e2m1, sw_decoded_e2m1)
