// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Shared by the floating-point types of 8, 6 and 4 bits (CUDA Math API 13.0, "FP8 Intrinsics" and
// others; OCP 8-bit Floating Point 1.0 and Microscaling Formats 1.0). They only store numbers;
// conversions round to nearest, ties to even, unless a function says otherwise.

#include "cuda_bf16.h"
#include "cuda_fp16.h"

#ifndef SW_ROUND_MODE
#define SW_ROUND_MODE
enum cudaRoundMode { cudaRoundNearest, cudaRoundZero, cudaRoundPosInf, cudaRoundMinInf };
#endif
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };

// A sign, exponent_bits and mantissa_bits, with subnormal numbers. The codes after `largest` are
// infinity, if there is one, and NaN.
struct sw_format {
  int exponent_bits, mantissa_bits;
  unsigned largest;
  bool has_nan, has_infinity;
};
constexpr sw_format sw_e4m3{4, 3, 0x7e, true, false}, sw_e5m2{5, 2, 0x7b, true, true};
constexpr sw_format sw_e3m2{3, 2, 0x1f, false, false}, sw_e2m3{2, 3, 0x1f, false, false};
constexpr sw_format sw_e2m1{2, 1, 0x7, false, false};

// Overflow gives the largest number or, if `saturates` is false, infinity or NaN. Formats without
// NaN convert it to the largest number.
SW_FN unsigned sw_encoded(double x, sw_format format, bool saturates = true) {
  const int bits = format.exponent_bits + format.mantissa_bits;
  const unsigned sign = (unsigned)__builtin_signbit(x) << bits;
  if (x != x) {
    if (!format.has_nan) return format.largest;
    const unsigned payload = (unsigned)(sw_bits<unsigned long long>(x) >> 50) & 1u;
    return sign | ((1u << bits) - (format.has_infinity ? 2u - payload : 1u));
  }
  const double size = fmin(__builtin_fabs(x), 0x1p40);
  const int lowest = 2 - (1 << (format.exponent_bits - 1));  // the exponent of subnormal numbers
  const int own = (int)(sw_bits<unsigned long long>(size) >> 52) - 1023;
  const int exponent = own > lowest ? own : lowest;
  const auto unit =
      sw_bits<double>((unsigned long long)(1023 + format.mantissa_bits - exponent) << 52);
  const unsigned code = ((unsigned)(exponent - lowest) << format.mantissa_bits) +
                        (unsigned)__builtin_rint(size * unit);
  if (code <= format.largest) return sign | code;
  if (saturates) return sign | format.largest;
  return sign | (format.has_infinity ? format.largest + 1 : (1u << bits) - 1u);
}
SW_FN float sw_decoded(unsigned code, sw_format format) {
  const int bits = format.exponent_bits + format.mantissa_bits;
  const unsigned size = code & ((1u << bits) - 1u);
  const float sign = code >> bits & 1u ? -1.0f : 1.0f;
  if (size > format.largest)
    return format.has_infinity && size == format.largest + 1 ? sign * __builtin_inff()
                                                             : __builtin_nanf("");
  const int lowest = 2 - (1 << (format.exponent_bits - 1));
  const int field = (int)(size >> format.mantissa_bits);
  const unsigned hidden = field == 0 ? 0u : 1u << format.mantissa_bits;
  const unsigned digits = (size & ((1u << format.mantissa_bits) - 1u)) | hidden;
  const int exponent = (field == 0 ? 0 : field - 1) + lowest - format.mantissa_bits;
  return sign * (float)digits * sw_bits<float>((unsigned)(127 + exponent) << 23);
}
// NaN is the one that the GPU's conversions give.
SW_FN __half_raw sw_decoded_half(unsigned code, sw_format format) {
  const float value = sw_decoded(code, format);
  return value != value ? __half_raw{0x7fff} : (__half_raw)__half(value);
}
// The number to convert. A double keeps its NaN, other types have one.
SW_FN double sw_number(double x) { return x; }
SW_FN double sw_number(float x) { return x == x ? x : sw_bits<double>(~0ull >> 1); }
SW_FN double sw_number(__half_raw x) { return sw_number(sw_half_to_float(x.x)); }
SW_FN double sw_number(__nv_bfloat16_raw x) { return sw_number(sw_bfloat_to_float(x.x)); }
SW_FN double sw_number(__half x) { return sw_number((float)x); }
SW_FN double sw_number(__nv_bfloat16 x) { return sw_number((float)x); }
template <class SwT>
SW_FN double sw_number(SwT x) {
  return (double)x;
}
// The sources of conversions: SW_CONVERT(name of one, its type, name of two, their type).
#define SW_CONVERT_ALL(SW_CONVERT)                       \
  SW_CONVERT(double, double, double2, double2)           \
  SW_CONVERT(float, float, float2, float2)               \
  SW_CONVERT(halfraw, __half_raw, halfraw2, __half2_raw) \
  SW_CONVERT(bfloat16raw, __nv_bfloat16_raw, bfloat16raw2, __nv_bfloat162_raw)

// The types of one, two and four numbers; `shift` is the distance of two numbers in a storage. The
// functions encode(double) and decode(code) convert one number.
#define SW_FORMAT_CAST(T) \
  explicit operator T() const { return sw_saturated<T>(__builtin_truncf((float)*this)); }
#define SW_FORMAT_TYPES(type, type2, type4, storage, storage2, storage4, shift, encode, decode)    \
  struct type {                                                                                    \
    storage __x;                                                                                   \
    type() = default;                                                                              \
    template <class SwT>                                                                           \
    explicit type(SwT value) : __x((storage)encode(sw_number(value))) {}                           \
    explicit operator float() const { return decode(__x); }                                        \
    explicit operator double() const { return decode(__x); }                                       \
    explicit operator __half() const { return __half(decode(__x)); }                               \
    explicit operator __nv_bfloat16() const { return __nv_bfloat16(decode(__x)); }                 \
    explicit operator bool() const { return decode(__x) != 0.0f; }                                 \
    SW_FORMAT_CAST(char)                                                                           \
    SW_FORMAT_CAST(signed char)                                                                    \
    SW_FORMAT_CAST(unsigned char)                                                                  \
    SW_FORMAT_CAST(short)                                                                          \
    SW_FORMAT_CAST(unsigned short)                                                                 \
    SW_FORMAT_CAST(int)                                                                            \
    SW_FORMAT_CAST(unsigned)                                                                       \
    SW_FORMAT_CAST(long)                                                                           \
    SW_FORMAT_CAST(unsigned long)                                                                  \
    SW_FORMAT_CAST(long long)                                                                      \
    SW_FORMAT_CAST(unsigned long long)                                                             \
  };                                                                                               \
  struct type2 {                                                                                   \
    storage2 __x;                                                                                  \
    type2() = default;                                                                             \
    template <class SwT2>                                                                          \
    explicit type2(SwT2 v) : __x((storage2)(type(v.x).__x | type(v.y).__x << shift)) {}            \
    explicit operator float2() const { return {part(0), part(1)}; }                                \
    explicit operator __half2() const { return {__half(part(0)), __half(part(1))}; }               \
    explicit operator __nv_bfloat162() const {                                                     \
      return {__nv_bfloat16(part(0)), __nv_bfloat16(part(1))};                                     \
    }                                                                                              \
                                                                                                   \
   private:                                                                                        \
    float part(int i) const { return decode(__x >> (i * shift) & ((1u << shift) - 1u)); }          \
  };                                                                                               \
  struct type4 {                                                                                   \
    storage4 __x;                                                                                  \
    type4() = default;                                                                             \
    template <class SwT2>                                                                          \
    type4(SwT2 low, SwT2 high)                                                                     \
        : __x((storage4)(type2(low).__x | (unsigned)type2(high).__x << (2 * shift))) {}            \
    template <class SwT4>                                                                          \
    explicit type4(SwT4 v)                                                                         \
        : type4(make_double2((double)v.x, (double)v.y), make_double2((double)v.z, (double)v.w)) {} \
    explicit operator float4() const { return {part(0), part(1), part(2), part(3)}; }              \
                                                                                                   \
   private:                                                                                        \
    float part(int i) const { return decode(__x >> (i * shift) & ((1u << shift) - 1u)); }          \
  };
