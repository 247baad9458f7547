// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Shared by the 16-bit floating-point types.

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

// A half has 11 significant bits and a float 24, at least twice as many plus two, so that the sum,
// product, quotient or root in float, rounded to 11 bits, is correctly rounded (Figueroa 1995).
#define SW_SMALL_OPERATOR(T, op)                                    \
  SW_FN T operator op(T a, T b) { return T((float)a op(float) b); } \
  SW_FN T& operator op##=(T & a, T b) { return a = a op b; }
#define SW_SMALL_COMPARE(T, op, name)                               \
  SW_FN bool operator op(T a, T b) { return (float)a op(float) b; } \
  SW_FN bool name(T a, T b) { return (float)a op(float) b; }
#define SW_SMALL_PAIR(T, T2, name) \
  SW_FN T2 name##2(T2 a, T2 b) { return {name(a.x, b.x), name(a.y, b.y)}; }
#define SW_SMALL_FUNCTION(T, T2, name, f)         \
  SW_FN T h##name(T x) { return T(f((float)x)); } \
  SW_FN T2 h2##name(T2 v) { return {h##name(v.x), h##name(v.y)}; }

// __hgt2 has 1 or 0 in each half, __hbgt2 is whether both compare so.
#define SW_PAIR_COMPARE(T, T2, name)                                       \
  SW_FN T2 __h##name##2(T2 a, T2 b) {                                      \
    return {T((float)__h##name(a.x, b.x)), T((float)__h##name(a.y, b.y))}; \
  }                                                                        \
  SW_FN bool __hb##name##2(T2 a, T2 b) { return __h##name(a.x, b.x) && __h##name(a.y, b.y); }

#define SW_SMALL_FLOAT(T, T2, name)                                                             \
  struct __attribute__((aligned(4))) T2 {                                                       \
    T x, y;                                                                                     \
    T2() = default;                                                                             \
    T2(T a, T b) : x(a), y(b) {}                                                                \
  };                                                                                            \
  SW_SMALL_OPERATOR(T, +)                                                                       \
  SW_SMALL_OPERATOR(T, -)                                                                       \
  SW_SMALL_OPERATOR(T, *)                                                                       \
  SW_SMALL_OPERATOR(T, /)                                                                       \
  SW_FN T operator-(T a) { return T(-(float)a); }                                               \
  SW_FN T operator+(T a) { return a; }                                                          \
  SW_FN T& operator++(T& a) { return a = T((float)a + 1.0f); }                                  \
  SW_FN T& operator--(T& a) { return a = T((float)a - 1.0f); }                                  \
  SW_SMALL_COMPARE(T, ==, __heq)                                                                \
  SW_SMALL_COMPARE(T, !=, __hne)                                                                \
  SW_SMALL_COMPARE(T, <, __hlt)                                                                 \
  SW_SMALL_COMPARE(T, <=, __hle)                                                                \
  SW_SMALL_COMPARE(T, >, __hgt)                                                                 \
  SW_SMALL_COMPARE(T, >=, __hge)                                                                \
  SW_FN T __hadd(T a, T b) { return a + b; }                                                    \
  SW_FN T __hsub(T a, T b) { return a - b; }                                                    \
  SW_FN T __hmul(T a, T b) { return a * b; }                                                    \
  SW_FN T __hdiv(T a, T b) { return a / b; }                                                    \
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
  SW_PAIR_COMPARE(T, T2, eq)                                                                    \
  SW_PAIR_COMPARE(T, T2, ne)                                                                    \
  SW_PAIR_COMPARE(T, T2, lt)                                                                    \
  SW_PAIR_COMPARE(T, T2, le)                                                                    \
  SW_PAIR_COMPARE(T, T2, gt)                                                                    \
  SW_PAIR_COMPARE(T, T2, ge)                                                                    \
  SW_FN T2 __h2div(T2 a, T2 b) { return {a.x / b.x, a.y / b.y}; }                               \
  SW_FN T2 __hneg2(T2 a) { return {-a.x, -a.y}; }                                               \
  SW_FN T2 __habs2(T2 a) { return {__habs(a.x), __habs(a.y)}; }                                 \
  SW_FN T2 __hfma2(T2 a, T2 b, T2 c) { return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)}; } \
  SW_FN T2 operator+(T2 a, T2 b) { return __hadd2(a, b); }                                      \
  SW_FN T2 operator-(T2 a, T2 b) { return __hsub2(a, b); }                                      \
  SW_FN T2 operator*(T2 a, T2 b) { return __hmul2(a, b); }                                      \
  SW_FN T2 operator/(T2 a, T2 b) { return __h2div(a, b); }                                      \
  SW_FN T2& operator+=(T2& a, T2 b) { return a = a + b; }                                       \
  SW_FN T2& operator-=(T2& a, T2 b) { return a = a - b; }                                       \
  SW_FN T2& operator*=(T2& a, T2 b) { return a = a * b; }                                       \
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
