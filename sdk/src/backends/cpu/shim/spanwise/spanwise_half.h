// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Shared by the 16-bit floating-point types, and by textures.

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

// The type T of 16 bits, and T_raw, its bits. A double is rounded once in effect, by way of a float
// that is rounded to odd.
#define SW_SMALL_STRUCT(T, from_float, to_float)                 \
  struct T##_raw {                                               \
    unsigned short x;                                            \
  };                                                             \
  struct T {                                                     \
    unsigned short __x;                                          \
    T() = default;                                               \
    T(const T##_raw& raw) : __x(raw.x) {}                        \
    T(float value) : __x(from_float(value)) {}                   \
    T(double value) : __x(from_float(sw_round_to_odd(value))) {} \
    T(int value) : T((double)value) {}                           \
    T(unsigned value) : T((double)value) {}                      \
    T(long value) : T((double)value) {}                          \
    T(unsigned long value) : T((double)value) {}                 \
    T(long long value) : T((double)value) {}                     \
    T(unsigned long long value) : T((double)value) {}            \
    T(short value) : T((float)value) {}                          \
    T(unsigned short value) : T((float)value) {}                 \
    operator float() const { return to_float(__x); }             \
    operator T##_raw() const { return {__x}; }                   \
  };

#define SW_SMALL_CONVERSIONS(T, T2, name)                                    \
  SW_FN T2 make_##name##2(T x, T y) { return {x, y}; }                       \
  SW_FN T __float2##name(float x) { return T(x); }                           \
  SW_FN T __float2##name##_rn(float x) { return T(x); }                      \
  SW_FN T __double2##name(double x) { return T(x); }                         \
  SW_FN T __int2##name##_rn(int x) { return T(x); }                          \
  SW_FN T __uint2##name##_rn(unsigned x) { return T(x); }                    \
  SW_FN T __short2##name##_rn(short x) { return T(x); }                      \
  SW_FN T __ushort2##name##_rn(unsigned short x) { return T(x); }            \
  SW_FN T __ll2##name##_rn(long long x) { return T(x); }                     \
  SW_FN float __##name##2float(T x) { return x; }                            \
  SW_FN int __##name##2int_rn(T x) { return __float2int_rn(x); }             \
  SW_FN int __##name##2int_rz(T x) { return __float2int_rz(x); }             \
  SW_FN unsigned __##name##2uint_rn(T x) { return __float2uint_rn(x); }      \
  SW_FN T2 __float2##name##2_rn(float x) { return {T(x), T(x)}; }            \
  SW_FN T2 __floats2##name##2_rn(float x, float y) { return {T(x), T(y)}; }  \
  SW_FN T2 __float22##name##2_rn(float2 v) { return {T(v.x), T(v.y)}; }      \
  SW_FN float2 __##name##22float2(T2 v) { return {(float)v.x, (float)v.y}; } \
  SW_FN T2 __##name##2##name##2(T x) { return {x, x}; }                      \
  SW_FN T2 __halves2##name##2(T x, T y) { return {x, y}; }                   \
  SW_FN T __low2##name(T2 v) { return v.x; }                                 \
  SW_FN T __high2##name(T2 v) { return v.y; }                                \
  SW_FN float __low2float(T2 v) { return v.x; }                              \
  SW_FN float __high2float(T2 v) { return v.y; }                             \
  SW_FN T2 __lowhigh2highlow(T2 v) { return {v.y, v.x}; }                    \
  SW_FN short __##name##_as_short(T x) { return (short)x.__x; }              \
  SW_FN unsigned short __##name##_as_ushort(T x) { return x.__x; }           \
  SW_FN T __short_as_##name(short x) { return T##_raw{(unsigned short)x}; }  \
  SW_FN T __ushort_as_##name(unsigned short x) { return T##_raw{x}; }

// A half has 11 significant bits and a float 24, at least twice as many plus two, so that the sum,
// product, quotient or root in float, rounded to 11 bits, is correctly rounded (Figueroa 1995).
#define SW_SMALL_PAIR(T, T2, name) \
  SW_FN T2 name##2(T2 a, T2 b) { return {name(a.x, b.x), name(a.y, b.y)}; }
#define SW_SMALL_OPERATOR(T, T2, op, name)                              \
  SW_FN T operator op(T a, T b) { return T((float)a op(float) b); }     \
  SW_FN T& operator op##=(T & a, T b) { return a = a op b; }            \
  SW_FN T2 operator op(T2 a, T2 b) { return {a.x op b.x, a.y op b.y}; } \
  SW_FN T2& operator op##=(T2 & a, T2 b) { return a = a op b; }         \
  SW_FN T __h##name(T a, T b) { return a op b; }
// For example, __hgt2() gives 1 or 0 in each half, __hbgt2() whether the comparison holds for both.
#define SW_SMALL_COMPARE(T, T2, op, name)                                  \
  SW_FN bool operator op(T a, T b) { return (float)a op(float) b; }        \
  SW_FN bool __h##name(T a, T b) { return (float)a op(float) b; }          \
  SW_FN T2 __h##name##2(T2 a, T2 b) {                                      \
    return {T((float)__h##name(a.x, b.x)), T((float)__h##name(a.y, b.y))}; \
  }                                                                        \
  SW_FN bool __hb##name##2(T2 a, T2 b) { return __h##name(a.x, b.x) && __h##name(a.y, b.y); }
#define SW_SMALL_FUNCTION(T, T2, name, f)         \
  SW_FN T h##name(T x) { return T(f((float)x)); } \
  SW_FN T2 h2##name(T2 v) { return {h##name(v.x), h##name(v.y)}; }

#define SW_SMALL_FLOAT(T, T2, name)                                                             \
  struct __attribute__((aligned(4))) T2 {                                                       \
    T x, y;                                                                                     \
    T2() = default;                                                                             \
    T2(T a, T b) : x(a), y(b) {}                                                                \
  };                                                                                            \
  SW_SMALL_OPERATOR(T, T2, +, add)                                                              \
  SW_SMALL_OPERATOR(T, T2, -, sub)                                                              \
  SW_SMALL_OPERATOR(T, T2, *, mul)                                                              \
  SW_SMALL_OPERATOR(T, T2, /, div)                                                              \
  SW_FN T operator-(T a) { return T(-(float)a); }                                               \
  SW_FN T operator+(T a) { return a; }                                                          \
  SW_FN T& operator++(T& a) { return a = T((float)a + 1.0f); }                                  \
  SW_FN T& operator--(T& a) { return a = T((float)a - 1.0f); }                                  \
  SW_SMALL_COMPARE(T, T2, ==, eq)                                                               \
  SW_SMALL_COMPARE(T, T2, !=, ne)                                                               \
  SW_SMALL_COMPARE(T, T2, <, lt)                                                                \
  SW_SMALL_COMPARE(T, T2, <=, le)                                                               \
  SW_SMALL_COMPARE(T, T2, >, gt)                                                                \
  SW_SMALL_COMPARE(T, T2, >=, ge)                                                               \
  SW_FN T __hneg(T a) { return -a; }                                                            \
  SW_FN T __habs(T a) { return T(__builtin_fabsf((float)a)); }                                  \
  SW_FN T __hfma(T a, T b, T c) { return T((double)(float)a * (float)b + (float)c); }           \
  SW_FN T __hmin(T a, T b) { return T(fminf((float)a, (float)b)); }                             \
  SW_FN T __hmax(T a, T b) { return T(fmaxf((float)a, (float)b)); }                             \
  SW_FN bool __hisnan(T a) { return __builtin_isnan((float)a); }                                \
  SW_FN int __hisinf(T a) { return __builtin_isinf_sign((float)a); }                            \
  SW_SMALL_PAIR(T, T2, __hadd)                                                                  \
  SW_SMALL_PAIR(T, T2, __hsub)                                                                  \
  SW_SMALL_PAIR(T, T2, __hmul)                                                                  \
  SW_SMALL_PAIR(T, T2, __hmin)                                                                  \
  SW_SMALL_PAIR(T, T2, __hmax)                                                                  \
  SW_FN T2 __h2div(T2 a, T2 b) { return a / b; }                                                \
  SW_FN T2 __hneg2(T2 a) { return {-a.x, -a.y}; }                                               \
  SW_FN T2 __habs2(T2 a) { return {__habs(a.x), __habs(a.y)}; }                                 \
  SW_FN T2 __hfma2(T2 a, T2 b, T2 c) { return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)}; } \
  SW_SMALL_FUNCTION(T, T2, exp, expf)                                                           \
  SW_SMALL_FUNCTION(T, T2, exp2, exp2f)                                                         \
  SW_SMALL_FUNCTION(T, T2, exp10, exp10f)                                                       \
  SW_SMALL_FUNCTION(T, T2, log, logf)                                                           \
  SW_SMALL_FUNCTION(T, T2, log2, log2f)                                                         \
  SW_SMALL_FUNCTION(T, T2, log10, log10f)                                                       \
  SW_SMALL_FUNCTION(T, T2, sqrt, __builtin_sqrtf)                                               \
  SW_SMALL_FUNCTION(T, T2, rsqrt, rsqrtf)                                                       \
  SW_SMALL_FUNCTION(T, T2, rcp, 1.0f /)                                                         \
  SW_SMALL_FUNCTION(T, T2, sin, sinf)                                                           \
  SW_SMALL_FUNCTION(T, T2, cos, cosf)                                                           \
  SW_SMALL_FUNCTION(T, T2, tanh, tanhf)                                                         \
  SW_SMALL_FUNCTION(T, T2, ceil, __builtin_ceilf)                                               \
  SW_SMALL_FUNCTION(T, T2, floor, __builtin_floorf)                                             \
  SW_SMALL_FUNCTION(T, T2, trunc, __builtin_truncf)                                             \
  SW_SMALL_FUNCTION(T, T2, rint, __builtin_rintf)                                               \
  SW_FN T atomicAdd(T* address, T value) {                                                      \
    auto* bits = reinterpret_cast<unsigned short*>(address);                                    \
    return sw_bits<T>(sw_atomic_update(bits, [=](unsigned short old) {                          \
      return (unsigned short)sw_widen(sw_bits<T>(old) + value);                                 \
    }));                                                                                        \
  }                                                                                             \
  SW_FN T2 atomicAdd(T2* address, T2 value) {                                                   \
    auto* bits = reinterpret_cast<unsigned*>(address);                                          \
    return sw_bits<T2>(sw_atomic_update(                                                        \
        bits, [=](unsigned old) { return (unsigned)sw_widen(sw_bits<T2>(old) + value); }));     \
  }
