// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Shared by the 16-bit floating-point types. Their headers include what they use, since a source
// may name none of it.

#include "spanwise_atomics.h"
#include "spanwise_half_bits.h"
#include "spanwise_intrinsics.h"
#include "spanwise_math.h"
#include "spanwise_rounding.h"
#include "spanwise_vectors.h"

// An integer, rounded to odd.
SW_FN double sw_round_to_odd(unsigned long long value) {
  if (value >> 53 == 0) return (double)value;
  return (double)((value & ~0x7ffull) | ((value & 0x7ffull) != 0 ? 0x800ull : 0ull));
}
SW_FN double sw_round_to_odd(long long value) {
  return value < 0 ? -sw_round_to_odd(-(unsigned long long)value)
                   : sw_round_to_odd((unsigned long long)value);
}
// x * y + z for factors whose product is exact in double, rounded to odd.
SW_FN double sw_fma_to_odd(double x, double y, double z) {
  const double product = SW_ROUNDED(x * y), sum = SW_ROUNDED(product + z);
  const double part = SW_ROUNDED(sum - product);
  const double rest = SW_ROUNDED(product - SW_ROUNDED(sum - part)) + SW_ROUNDED(z - part);
  const auto bits = sw_bits<unsigned long long>(sum);
  if (!(rest != 0) || (bits & 1) != 0 || __builtin_isinf(sum)) return sum;
  return sw_bits<double>((rest > 0) == (sum > 0) ? bits + 1 : bits - 1);
}

template <class SwT>
struct sw_wider_small {
  typedef float type;
  typedef unsigned short bits;
};

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
    T(long value) : T((long long)value) {}                       \
    T(unsigned long value) : T((unsigned long long)value) {}     \
    T(long long value) : T(sw_round_to_odd(value)) {}            \
    T(unsigned long long value) : T(sw_round_to_odd(value)) {}   \
    T(short value) : T((float)value) {}                          \
    T(unsigned short value) : T((float)value) {}                 \
    operator float() const { return to_float(__x); }             \
    operator T##_raw() const { return {__x}; }                   \
  };

// A conversion to T in a direction; `exact` is the number, or it rounded to odd.
template <sw_rounding direction, class SwT>
SW_FN SwT sw_small_directed(double exact) {
  const SwT nearest(exact);
  return sw_directed<direction>(nearest, exact - (double)(float)nearest);
}
#define SW_SMALL_TO(T, name, suffix, f)                                                        \
  SW_FN int __##name##2int_##suffix(T x) { return sw_saturated<int>(f((float)x)); }            \
  SW_FN unsigned __##name##2uint_##suffix(T x) { return sw_saturated<unsigned>(f((float)x)); } \
  SW_FN short __##name##2short_##suffix(T x) { return sw_saturated<short>(f((float)x)); }      \
  SW_FN unsigned short __##name##2ushort_##suffix(T x) {                                       \
    return sw_saturated<unsigned short>(f((float)x));                                          \
  }                                                                                            \
  SW_FN long long __##name##2ll_##suffix(T x) { return sw_saturated<long long>(f((float)x)); } \
  SW_FN unsigned long long __##name##2ull_##suffix(T x) {                                      \
    return sw_saturated<unsigned long long>(f((float)x));                                      \
  }
#define SW_SMALL_FROM_ONE(T, name, source, From, suffix, direction, exact) \
  SW_FN T __##source##2##name##_##suffix(From x) {                         \
    return sw_small_directed<direction, T>(exact(x));                      \
  }
#define SW_SMALL_FROM(T, name, suffix, direction)                                 \
  SW_SMALL_FROM_ONE(T, name, float, float, suffix, direction, (double))           \
  SW_SMALL_FROM_ONE(T, name, int, int, suffix, direction, (double))               \
  SW_SMALL_FROM_ONE(T, name, uint, unsigned, suffix, direction, (double))         \
  SW_SMALL_FROM_ONE(T, name, short, short, suffix, direction, (double))           \
  SW_SMALL_FROM_ONE(T, name, ushort, unsigned short, suffix, direction, (double)) \
  SW_SMALL_FROM_ONE(T, name, ll, long long, suffix, direction, sw_round_to_odd)   \
  SW_SMALL_FROM_ONE(T, name, ull, unsigned long long, suffix, direction, sw_round_to_odd)

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
  SW_FN T __ull2##name##_rn(unsigned long long x) { return T(x); }           \
  SW_SMALL_TO(T, name, rn, __builtin_rintf)                                  \
  SW_SMALL_TO(T, name, rz, __builtin_truncf)                                 \
  SW_SMALL_TO(T, name, rd, __builtin_floorf)                                 \
  SW_SMALL_TO(T, name, ru, __builtin_ceilf)                                  \
  SW_FN signed char __##name##2char_rz(T x) {                                \
    return sw_saturated<signed char>(__builtin_truncf((float)x));            \
  }                                                                          \
  SW_FN unsigned char __##name##2uchar_rz(T x) {                             \
    return sw_saturated<unsigned char>(__builtin_truncf((float)x));          \
  }                                                                          \
  SW_SMALL_FROM(T, name, rz, sw_to_zero)                                     \
  SW_SMALL_FROM(T, name, rd, sw_down)                                        \
  SW_SMALL_FROM(T, name, ru, sw_up)                                          \
  SW_FN T2 __low2##name##2(T2 v) { return {v.x, v.x}; }                      \
  SW_FN T2 __high2##name##2(T2 v) { return {v.y, v.y}; }                     \
  SW_FN T2 __lows2##name##2(T2 a, T2 b) { return {a.x, b.x}; }               \
  SW_FN T2 __highs2##name##2(T2 a, T2 b) { return {a.y, b.y}; }              \
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
// For example, __hgt2() gives 1 or 0 in each half, __hgt2_mask() all bits or none, and __hbgt2()
// whether the comparison holds for both. With u in the name, it holds for NaN, too; so does !=.
#define SW_SMALL_COMPARE_PAIR(T, T2, name)                                                    \
  SW_FN T2 __h##name##2(T2 a, T2 b) {                                                         \
    return {T((float)__h##name(a.x, b.x)), T((float)__h##name(a.y, b.y))};                    \
  }                                                                                           \
  SW_FN bool __hb##name##2(T2 a, T2 b) { return __h##name(a.x, b.x) && __h##name(a.y, b.y); } \
  SW_FN unsigned __h##name##2_mask(T2 a, T2 b) {                                              \
    return (__h##name(a.x, b.x) ? 0xffffu : 0u) | (__h##name(a.y, b.y) ? 0xffff0000u : 0u);   \
  }
#define SW_SMALL_COMPARE(T, T2, op, name)                                      \
  SW_FN bool operator op(T a, T b) { return (float)a op(float) b; }            \
  SW_FN bool __h##name(T a, T b) {                                             \
    return !__builtin_isunordered((float)a, (float)b) && (float)a op(float) b; \
  }                                                                            \
  SW_FN bool __h##name##u(T a, T b) {                                          \
    return __builtin_isunordered((float)a, (float)b) || (float)a op(float) b;  \
  }                                                                            \
  SW_SMALL_COMPARE_PAIR(T, T2, name)                                           \
  SW_SMALL_COMPARE_PAIR(T, T2, name##u)
#define SW_SMALL_FUNCTION(T, T2, name, f)         \
  SW_FN T h##name(T x) { return T(f((float)x)); } \
  SW_FN T2 h2##name(T2 v) { return {h##name(v.x), h##name(v.y)}; }

// Results limited to [0, 1], or to numbers that are not negative; NaN becomes 0, or stays.
template <class SwT>
SW_FN SwT sw_small_saturated(SwT x) {
  return SwT(__saturatef((float)x));
}
template <class SwT>
SW_FN SwT sw_small_relu(SwT x) {
  return (float)x <= 0.0f ? SwT(0.0f) : x;
}
// The larger or the smaller of two numbers, of which -0 is less than 0. If one is NaN, it is the
// result with `keeps_nan`, and the other one without.
template <bool is_maximum, bool keeps_nan, class SwT>
SW_FN SwT sw_small_extreme(SwT a, SwT b) {
  const float x = a, y = b;
  if (__builtin_isunordered(x, y)) return (x != x) == keeps_nan ? a : b;
  const bool is_a_less = x < y || (x == y && a.__x >> 15 != 0);
  return is_a_less == is_maximum ? b : a;
}
#define SW_SMALL_ROUNDED(T, T2, name)                                     \
  SW_FN T name##_rn(T a, T b) { return name(a, b); }                      \
  SW_FN T name##_sat(T a, T b) { return sw_small_saturated(name(a, b)); } \
  SW_FN T2 name##2_rn(T2 a, T2 b) { return name##2(a, b); }               \
  SW_FN T2 name##2_sat(T2 a, T2 b) { return {name##_sat(a.x, b.x), name##_sat(a.y, b.y)}; }
#define SW_SMALL_FMA(T, T2, kind, f)                                     \
  SW_FN T __hfma_##kind(T a, T b, T c) { return f(__hfma(a, b, c)); }    \
  SW_FN T2 __hfma2_##kind(T2 a, T2 b, T2 c) {                            \
    return {__hfma_##kind(a.x, b.x, c.x), __hfma_##kind(a.y, b.y, c.y)}; \
  }

#define SW_SMALL_FLOAT(T, T2, name)                                                             \
  struct __attribute__((aligned(4))) T2##_raw {                                                 \
    unsigned short x, y;                                                                        \
  };                                                                                            \
  struct __attribute__((aligned(4))) T2 {                                                       \
    T x, y;                                                                                     \
    T2() = default;                                                                             \
    T2(T a, T b) : x(a), y(b) {}                                                                \
    T2(T2##_raw raw) : x(T##_raw{raw.x}), y(T##_raw{raw.y}) {}                                  \
    operator T2##_raw() const { return {x.__x, y.__x}; }                                        \
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
  SW_FN T __hfma(T a, T b, T c) { return T(sw_fma_to_odd((float)a, (float)b, (float)c)); }      \
  SW_SMALL_FMA(T, T2, sat, sw_small_saturated)                                                  \
  SW_SMALL_FMA(T, T2, relu, sw_small_relu)                                                      \
  SW_FN T __hmin(T a, T b) { return sw_small_extreme<false, false>(a, b); }                     \
  SW_FN T __hmax(T a, T b) { return sw_small_extreme<true, false>(a, b); }                      \
  SW_FN T __hmin_nan(T a, T b) { return sw_small_extreme<false, true>(a, b); }                  \
  SW_FN T __hmax_nan(T a, T b) { return sw_small_extreme<true, true>(a, b); }                   \
  SW_FN T2 __hmin2_nan(T2 a, T2 b) { return {__hmin_nan(a.x, b.x), __hmin_nan(a.y, b.y)}; }     \
  SW_FN T2 __hmax2_nan(T2 a, T2 b) { return {__hmax_nan(a.x, b.x), __hmax_nan(a.y, b.y)}; }     \
  SW_FN bool __hisnan(T a) { return __builtin_isnan((float)a); }                                \
  SW_FN int __hisinf(T a) { return __builtin_isinf_sign((float)a); }                            \
  SW_SMALL_PAIR(T, T2, __hadd)                                                                  \
  SW_SMALL_PAIR(T, T2, __hsub)                                                                  \
  SW_SMALL_PAIR(T, T2, __hmul)                                                                  \
  SW_SMALL_ROUNDED(T, T2, __hadd)                                                               \
  SW_SMALL_ROUNDED(T, T2, __hsub)                                                               \
  SW_SMALL_ROUNDED(T, T2, __hmul)                                                               \
  SW_FN T2 __hisnan2(T2 a) { return {T((float)__hisnan(a.x)), T((float)__hisnan(a.y))}; }       \
  SW_SMALL_PAIR(T, T2, __hmin)                                                                  \
  SW_SMALL_PAIR(T, T2, __hmax)                                                                  \
  SW_FN T2 __h2div(T2 a, T2 b) { return a / b; }                                                \
  SW_FN T2 __hneg2(T2 a) { return {-a.x, -a.y}; }                                               \
  SW_FN T2 __habs2(T2 a) { return {__habs(a.x), __habs(a.y)}; }                                 \
  SW_FN T2 __hfma2(T2 a, T2 b, T2 c) { return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)}; } \
  SW_FN T2 __hcmadd(T2 a, T2 b, T2 c) {                                                         \
    return {__hfma(-a.y, b.y, __hfma(a.x, b.x, c.x)), __hfma(a.y, b.x, __hfma(a.x, b.y, c.y))}; \
  }                                                                                             \
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
  SW_SMALL_FUNCTION(T, T2, tanh_approx, tanhf)                                                  \
  SW_SMALL_FUNCTION(T, T2, ceil, __builtin_ceilf)                                               \
  SW_SMALL_FUNCTION(T, T2, floor, __builtin_floorf)                                             \
  SW_SMALL_FUNCTION(T, T2, trunc, __builtin_truncf)                                             \
  SW_SMALL_FUNCTION(T, T2, rint, __builtin_rintf)                                               \
  SW_FN T atomicAdd(T* address, T value) {                                                      \
    auto* bits = reinterpret_cast<unsigned short*>(address);                                    \
    return sw_bits<T>(sw_atomic_update(bits, [=](unsigned short old) {                          \
      return sw_bits<unsigned short>(T(sw_bits<T>(old) + value));                               \
    }));                                                                                        \
  }                                                                                             \
  SW_FN T2 atomicAdd(T2* address, T2 value) {                                                   \
    auto* bits = reinterpret_cast<unsigned*>(address);                                          \
    return sw_bits<T2>(sw_atomic_update(                                                        \
        bits, [=](unsigned old) { return sw_bits<unsigned>(sw_bits<T2>(old) + value); }));      \
  }
