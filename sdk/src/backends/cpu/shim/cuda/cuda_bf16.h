// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// bfloat16 (CUDA Math API 13.0, "Bfloat16 Precision Intrinsics"): the upper half of a float, with
// arithmetic in float, rounded once per result.

#include "spanwise_half.h"

struct __nv_bfloat16_raw {
  unsigned short x;
};

SW_FN unsigned short sw_bfloat_from_float(float value) {
  const unsigned word = sw_bits<unsigned>(value);
  if ((word & 0x7fffffffu) > 0x7f800000u) return (unsigned short)(word >> 16 | 0x40u);
  return (unsigned short)(word + 0x7fffu + (word >> 16 & 1u) >> 16);
}

struct __nv_bfloat16 {
  unsigned short __x;

  __nv_bfloat16() = default;
  __nv_bfloat16(const __nv_bfloat16_raw& raw) : __x(raw.x) {}
  __nv_bfloat16(float value) : __x(sw_bfloat_from_float(value)) {}
  __nv_bfloat16(double value) : __x(sw_bfloat_from_float(sw_round_to_odd(value))) {}
  __nv_bfloat16(int value) : __nv_bfloat16((double)value) {}
  __nv_bfloat16(unsigned value) : __nv_bfloat16((double)value) {}
  __nv_bfloat16(long value) : __nv_bfloat16((double)value) {}
  __nv_bfloat16(unsigned long value) : __nv_bfloat16((double)value) {}
  __nv_bfloat16(long long value) : __nv_bfloat16((double)value) {}
  __nv_bfloat16(unsigned long long value) : __nv_bfloat16((double)value) {}
  __nv_bfloat16(short value) : __nv_bfloat16((float)value) {}
  __nv_bfloat16(unsigned short value) : __nv_bfloat16((float)value) {}
  operator float() const { return sw_bits<float>((unsigned)__x << 16); }
  operator __nv_bfloat16_raw() const { return {__x}; }
};
typedef __nv_bfloat16 nv_bfloat16;

SW_SMALL_FLOAT(__nv_bfloat16, __nv_bfloat162, bfloat16)
typedef __nv_bfloat162 nv_bfloat162;
SW_FN __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }

SW_FN __nv_bfloat16 __float2bfloat16(float x) { return __nv_bfloat16(x); }
SW_FN __nv_bfloat16 __float2bfloat16_rn(float x) { return __nv_bfloat16(x); }
SW_FN float __bfloat162float(__nv_bfloat16 x) { return x; }
SW_FN __nv_bfloat16 __double2bfloat16(double x) { return __nv_bfloat16(x); }
SW_FN __nv_bfloat16 __int2bfloat16_rn(int x) { return __nv_bfloat16(x); }
SW_FN int __bfloat162int_rn(__nv_bfloat16 x) { return __float2int_rn(x); }
SW_FN __nv_bfloat162 __float2bfloat162_rn(float x) { return {__nv_bfloat16(x), __nv_bfloat16(x)}; }
SW_FN __nv_bfloat162 __floats2bfloat162_rn(float x, float y) {
  return {__nv_bfloat16(x), __nv_bfloat16(y)};
}
SW_FN float2 __bfloat1622float2(__nv_bfloat162 v) { return {(float)v.x, (float)v.y}; }
SW_FN __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 x) { return {x, x}; }
SW_FN __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
SW_FN __nv_bfloat16 __low2bfloat16(__nv_bfloat162 v) { return v.x; }
SW_FN __nv_bfloat16 __high2bfloat16(__nv_bfloat162 v) { return v.y; }
SW_FN float __low2float(__nv_bfloat162 v) { return v.x; }
SW_FN float __high2float(__nv_bfloat162 v) { return v.y; }
SW_FN short __bfloat16_as_short(__nv_bfloat16 x) { return (short)x.__x; }
SW_FN unsigned short __bfloat16_as_ushort(__nv_bfloat16 x) { return x.__x; }
SW_FN __nv_bfloat16 __short_as_bfloat16(short x) { return __nv_bfloat16_raw{(unsigned short)x}; }
SW_FN __nv_bfloat16 __ushort_as_bfloat16(unsigned short x) { return __nv_bfloat16_raw{x}; }
