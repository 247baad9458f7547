// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Half precision (CUDA Math API 13.0, "Half Precision Intrinsics"): storage in 16 bits, arithmetic
// in float, rounded once per result, as by the GPU's instructions.

#include "spanwise_half.h"
#include "spanwise_half_bits.h"

struct __half_raw {
  unsigned short x;
};

struct __half {
  unsigned short __x;

  __half() = default;
  __half(const __half_raw& raw) : __x(raw.x) {}
  __half(float value) : __x(sw_half_from_float(value)) {}
  // From double with one rounding, by way of a float that is rounded to odd.
  __half(double value) : __x(sw_half_from_float(sw_round_to_odd(value))) {}
  __half(int value) : __half((double)value) {}
  __half(unsigned value) : __half((double)value) {}
  __half(long value) : __half((double)value) {}
  __half(unsigned long value) : __half((double)value) {}
  __half(long long value) : __half((double)value) {}
  __half(unsigned long long value) : __half((double)value) {}
  __half(short value) : __half((float)value) {}
  __half(unsigned short value) : __half((float)value) {}
  operator float() const { return sw_half_to_float(__x); }
  operator __half_raw() const { return {__x}; }
};
typedef __half half;

SW_SMALL_FLOAT(__half, __half2, half)
typedef __half2 half2;
SW_FN __half2 make_half2(__half x, __half y) { return {x, y}; }

SW_FN __half __float2half(float x) { return __half(x); }
SW_FN __half __float2half_rn(float x) { return __half(x); }
SW_FN float __half2float(__half x) { return x; }
SW_FN __half __double2half(double x) { return __half(x); }
SW_FN __half __int2half_rn(int x) { return __half(x); }
SW_FN __half __uint2half_rn(unsigned x) { return __half(x); }
SW_FN __half __short2half_rn(short x) { return __half(x); }
SW_FN __half __ushort2half_rn(unsigned short x) { return __half(x); }
SW_FN __half __ll2half_rn(long long x) { return __half(x); }
SW_FN int __half2int_rn(__half x) { return __float2int_rn(x); }
SW_FN int __half2int_rz(__half x) { return __float2int_rz(x); }
SW_FN unsigned __half2uint_rn(__half x) { return __float2uint_rn(x); }
SW_FN __half2 __float2half2_rn(float x) { return {__half(x), __half(x)}; }
SW_FN __half2 __floats2half2_rn(float x, float y) { return {__half(x), __half(y)}; }
SW_FN __half2 __float22half2_rn(float2 v) { return {__half(v.x), __half(v.y)}; }
SW_FN float2 __half22float2(__half2 v) { return {(float)v.x, (float)v.y}; }
SW_FN __half2 __half2half2(__half x) { return {x, x}; }
SW_FN __half2 __halves2half2(__half x, __half y) { return {x, y}; }
SW_FN __half __low2half(__half2 v) { return v.x; }
SW_FN __half __high2half(__half2 v) { return v.y; }
SW_FN float __low2float(__half2 v) { return v.x; }
SW_FN float __high2float(__half2 v) { return v.y; }
SW_FN __half2 __lowhigh2highlow(__half2 v) { return {v.y, v.x}; }
SW_FN short __half_as_short(__half x) { return (short)x.__x; }
SW_FN unsigned short __half_as_ushort(__half x) { return x.__x; }
SW_FN __half __short_as_half(short x) { return __half_raw{(unsigned short)x}; }
SW_FN __half __ushort_as_half(unsigned short x) { return __half_raw{x}; }
