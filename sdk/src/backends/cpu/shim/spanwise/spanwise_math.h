// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// CUDA's math functions (CUDA Math API 13.0), which call those of the C library.

#ifdef SW_SYSTEM
// The system's <math.h> declares the standard functions. GNU's C library has further functions
// under CUDA's names, more of them in later versions, which these must not redeclare.
#define sincos sw_sincos
#define sincosf sw_sincosf
#define exp10 sw_exp10
#define exp10f sw_exp10f
#define rsqrt sw_rsqrt
#define rsqrtf sw_rsqrtf
#define sinpi sw_sinpi
#define sinpif sw_sinpif
#define cospi sw_cospi
#define cospif sw_cospif
#define __sinf sw_sinf_fast
#define __cosf sw_cosf_fast
#define __tanf sw_tanf_fast
#define __sincosf sw_sincosf_fast
#define __expf sw_expf_fast
#define __exp10f sw_exp10f_fast
#define __logf sw_logf_fast
#define __log2f sw_log2f_fast
#define __log10f sw_log10f_fast
#define __powf sw_powf_fast
#define __tanhf sw_tanhf_fast
#else
// The C library's math functions with CUDA's overloads. Names that the C library declares have C
// linkage and its exception specification, so that a system header may redeclare them.

template <class T>
struct sw_if_integer {};
#define SW_INTEGER(T)       \
  template <>               \
  struct sw_if_integer<T> { \
    typedef double real;    \
  };
SW_INTEGER(bool)
SW_INTEGER(char)
SW_INTEGER(signed char)
SW_INTEGER(unsigned char)
SW_INTEGER(short)
SW_INTEGER(unsigned short)
SW_INTEGER(int)
SW_INTEGER(unsigned)
SW_INTEGER(long)
SW_INTEGER(unsigned long)
SW_INTEGER(long long)
SW_INTEGER(unsigned long long)
#undef SW_INTEGER

// The overloads of C++: sqrt(float) is sqrtf, and an integer argument is converted to double.
#define SW_UNARY(name)                                  \
  extern "C" {                                          \
  double name(double) noexcept;                         \
  float name##f(float) noexcept;                        \
  }                                                     \
  SW_FN float name(float x) { return name##f(x); }      \
  template <class SwT>                                  \
  SW_FN typename sw_if_integer<SwT>::real name(SwT x) { \
    return name((double)x);                             \
  }
#define SW_BINARY(name)                                               \
  extern "C" {                                                        \
  double name(double, double) noexcept;                               \
  float name##f(float, float) noexcept;                               \
  }                                                                   \
  SW_FN float name(float x, float y) { return name##f(x, y); }        \
  SW_FN double name(float x, double y) { return name((double)x, y); } \
  SW_FN double name(double x, float y) { return name(x, (double)y); } \
  template <class SwT>                                                \
  SW_FN typename sw_if_integer<SwT>::real name(SwT x, double y) {     \
    return name((double)x, y);                                        \
  }

#define SW_FAMILY(name)
#define SW_FUNCTION(name)
#include "spanwise_math_names.h"

extern "C" {
double pow(double, double) noexcept;
float powf(float, float) noexcept;
double fma(double, double, double) noexcept;
float fmaf(float, float, float) noexcept;
double ldexp(double, int) noexcept;
float ldexpf(float, int) noexcept;
double scalbn(double, int) noexcept;
float scalbnf(float, int) noexcept;
double scalbln(double, long) noexcept;
float scalblnf(float, long) noexcept;
double frexp(double, int*) noexcept;
float frexpf(float, int*) noexcept;
double modf(double, double*) noexcept;
float modff(float, float*) noexcept;
double remquo(double, double, int*) noexcept;
float remquof(float, float, int*) noexcept;
double nan(const char*) noexcept;
float nanf(const char*) noexcept;
double j0(double) noexcept;
double j1(double) noexcept;
double jn(int, double) noexcept;
double y0(double) noexcept;
double y1(double) noexcept;
double yn(int, double) noexcept;
float j0f(float) noexcept;
float j1f(float) noexcept;
float jnf(int, float) noexcept;
float y0f(float) noexcept;
float y1f(float) noexcept;
float ynf(int, float) noexcept;
int abs(int) noexcept;
long labs(long) noexcept;
long long llabs(long long) noexcept;
}
SW_FN float pow(float x, float y) { return powf(x, y); }
SW_FN double pow(double x, float y) { return pow(x, (double)y); }
SW_FN double pow(float x, double y) { return pow((double)x, y); }
SW_FN float pow(float x, int n) { return powf(x, (float)n); }
SW_FN double pow(double x, int n) { return pow(x, (double)n); }
template <class SwT, class SwU>
SW_FN typename sw_if_integer<SwT>::real pow(SwT x, SwU y) {
  return pow((double)x, (double)y);
}
SW_FN float fma(float x, float y, float z) { return fmaf(x, y, z); }
SW_FN float ldexp(float x, int n) { return ldexpf(x, n); }
SW_FN float scalbn(float x, int n) { return scalbnf(x, n); }
SW_FN float frexp(float x, int* n) { return frexpf(x, n); }
SW_FN float modf(float x, float* n) { return modff(x, n); }
SW_FN float remquo(float x, float y, int* n) { return remquof(x, y, n); }
#define SW_INTEGER_RESULT(name, T) \
  extern "C" {                     \
  T name(double) noexcept;         \
  T name##f(float) noexcept;       \
  }                                \
  SW_FN T name(float x) { return name##f(x); }
SW_INTEGER_RESULT(ilogb, int)
SW_INTEGER_RESULT(lrint, long)
SW_INTEGER_RESULT(lround, long)
SW_INTEGER_RESULT(llrint, long long)
SW_INTEGER_RESULT(llround, long long)
#undef SW_INTEGER_RESULT
SW_FN long abs(long x) { return x < 0 ? -x : x; }
SW_FN long long abs(long long x) { return x < 0 ? -x : x; }
SW_FN float abs(float x) { return __builtin_fabsf(x); }
SW_FN double abs(double x) { return __builtin_fabs(x); }

// Inline, because the C library's are calls; these become two instructions. If one argument is NaN,
// the other is the result.
#define SW_EXTREME(name, T, precedes)      \
  SW_FN T name(T a, T b) {                 \
    const T chosen = a precedes b ? a : b; \
    return b != b ? a : chosen;            \
  }
SW_EXTREME(fminf, float, <)
SW_EXTREME(fmaxf, float, >)
SW_EXTREME(fmin, double, <)
SW_EXTREME(fmax, double, >)
#undef SW_EXTREME
SW_FN float fmin(float a, float b) { return fminf(a, b); }
SW_FN float fmax(float a, float b) { return fmaxf(a, b); }
SW_FN double fmin(float a, double b) { return fmin((double)a, b); }
SW_FN double fmin(double a, float b) { return fmin(a, (double)b); }
SW_FN double fmax(float a, double b) { return fmax((double)a, b); }
SW_FN double fmax(double a, float b) { return fmax(a, (double)b); }

SW_FN bool isnan(float x) { return __builtin_isnan(x); }
SW_FN bool isnan(double x) { return __builtin_isnan(x); }
SW_FN bool isinf(float x) { return __builtin_isinf(x); }
SW_FN bool isinf(double x) { return __builtin_isinf(x); }
SW_FN bool isfinite(float x) { return __builtin_isfinite(x); }
SW_FN bool isfinite(double x) { return __builtin_isfinite(x); }
SW_FN bool signbit(float x) { return __builtin_signbit(x); }
SW_FN bool signbit(double x) { return __builtin_signbit(x); }
#endif

#define SW_MIN_MAX(R, A, B)                                             \
  SW_FN constexpr R min(A a, B b) { return (R)a < (R)b ? (R)a : (R)b; } \
  SW_FN constexpr R max(A a, B b) { return (R)a > (R)b ? (R)a : (R)b; }
SW_MIN_MAX(int, int, int)
SW_MIN_MAX(unsigned, unsigned, unsigned)
SW_MIN_MAX(unsigned, int, unsigned)
SW_MIN_MAX(unsigned, unsigned, int)
SW_MIN_MAX(long, long, long)
SW_MIN_MAX(unsigned long, unsigned long, unsigned long)
SW_MIN_MAX(unsigned long, long, unsigned long)
SW_MIN_MAX(unsigned long, unsigned long, long)
SW_MIN_MAX(long long, long long, long long)
SW_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
SW_MIN_MAX(unsigned long long, long long, unsigned long long)
SW_MIN_MAX(unsigned long long, unsigned long long, long long)
#undef SW_MIN_MAX
#define SW_MIN_MAX(R, A, B)                          \
  SW_FN R min(A a, B b) { return fmin((R)a, (R)b); } \
  SW_FN R max(A a, B b) { return fmax((R)a, (R)b); }
SW_MIN_MAX(float, float, float)
SW_MIN_MAX(double, double, double)
SW_MIN_MAX(double, float, double)
SW_MIN_MAX(double, double, float)
#undef SW_MIN_MAX
SW_FN unsigned umin(unsigned a, unsigned b) { return a < b ? a : b; }
SW_FN unsigned umax(unsigned a, unsigned b) { return a > b ? a : b; }
SW_FN long long llmin(long long a, long long b) { return a < b ? a : b; }
SW_FN long long llmax(long long a, long long b) { return a > b ? a : b; }
SW_FN unsigned long long ullmin(unsigned long long a, unsigned long long b) { return min(a, b); }
SW_FN unsigned long long ullmax(unsigned long long a, unsigned long long b) { return max(a, b); }

// Functions that the C library lacks. The type of the literals determines the precision of the
// expression.
SW_FN float rsqrtf(float x) { return 1.0f / __builtin_sqrtf(x); }
SW_FN double rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }
SW_FN float rcbrtf(float x) { return 1.0f / cbrtf(x); }
SW_FN double rcbrt(double x) { return 1.0 / cbrt(x); }
SW_FN float exp10f(float x) { return __builtin_powf(10.0f, x); }
SW_FN double exp10(double x) { return __builtin_pow(10.0, x); }
SW_FN double sinpi(double x) {
  // Reduced to [-1/2, 1/2] exactly, so that sinpi(n) is 0 and sinpi(n + 1/2) is +-1.
  const double turn = x - 2.0 * __builtin_rint(0.5 * x);
  const double folded = turn > 0.5 ? 1.0 - turn : turn < -0.5 ? -1.0 - turn : turn;
  return sin(3.14159265358979323846 * folded);
}
SW_FN double cospi(double x) {
  const double turn = __builtin_fabs(x - 2.0 * __builtin_rint(0.5 * x));
  return turn == 0.5 ? 0.0 : sin(3.14159265358979323846 * (0.5 - turn));
}
SW_FN float sinpif(float x) { return (float)sinpi((double)x); }
SW_FN float cospif(float x) { return (float)cospi((double)x); }
SW_FN void sincos(double x, double* s, double* c) {
  *s = sin(x);
  *c = cos(x);
}
SW_FN void sincosf(float x, float* s, float* c) {
  *s = sinf(x);
  *c = cosf(x);
}
SW_FN void sincos(float x, float* s, float* c) { sincosf(x, s, c); }
SW_FN void sincospi(double x, double* s, double* c) {
  *s = sinpi(x);
  *c = cospi(x);
}
SW_FN void sincospif(float x, float* s, float* c) {
  *s = sinpif(x);
  *c = cospif(x);
}
SW_FN double rhypot(double x, double y) { return 1.0 / hypot(x, y); }
SW_FN float rhypotf(float x, float y) { return 1.0f / hypotf(x, y); }
SW_FN double norm3d(double x, double y, double z) { return hypot(hypot(x, y), z); }
SW_FN float norm3df(float x, float y, float z) { return hypotf(hypotf(x, y), z); }
SW_FN double norm4d(double x, double y, double z, double w) { return hypot(norm3d(x, y, z), w); }
SW_FN float norm4df(float x, float y, float z, float w) { return hypotf(norm3df(x, y, z), w); }
SW_FN double rnorm3d(double x, double y, double z) { return 1.0 / norm3d(x, y, z); }
SW_FN float rnorm3df(float x, float y, float z) { return 1.0f / norm3df(x, y, z); }
SW_FN double rnorm4d(double x, double y, double z, double w) { return 1.0 / norm4d(x, y, z, w); }
SW_FN float rnorm4df(float x, float y, float z, float w) { return 1.0f / norm4df(x, y, z, w); }
SW_FN double normcdf(double x) {
  // -x / sqrt(2) as a sum of two doubles, because erfc() multiplies its error.
  const double high = -x * 0.70710678118654752440;
  const double low = __builtin_fma(-x, 0.70710678118654752440, -high) + x * 4.8336466567264567e-17;
  return 0.5 * erfc(high) -
         (__builtin_fabs(high) > 26 ? 0 : low * 0.56418958354775628695 * exp(-high * high));
}
SW_FN float normcdff(float x) { return (float)normcdf((double)x); }
#define SW_FLOAT_OVERLOAD(name) \
  SW_FN float name(float x) { return name##f(x); }
SW_FLOAT_OVERLOAD(cospi)
SW_FLOAT_OVERLOAD(exp10)
SW_FLOAT_OVERLOAD(j0)
SW_FLOAT_OVERLOAD(j1)
SW_FLOAT_OVERLOAD(normcdf)
SW_FLOAT_OVERLOAD(rcbrt)
SW_FLOAT_OVERLOAD(rsqrt)
SW_FLOAT_OVERLOAD(sinpi)
SW_FLOAT_OVERLOAD(y0)
SW_FLOAT_OVERLOAD(y1)
SW_FN float jn(int n, float x) { return jnf(n, x); }
SW_FN float yn(int n, float x) { return ynf(n, x); }
SW_FN void sincospi(float x, float* s, float* c) { sincospif(x, s, c); }
#ifndef SW_SYSTEM  // else <math.h> has these
SW_FN int __finite(double x) { return __builtin_isfinite(x); }
SW_FN int __finitef(float x) { return __builtin_isfinite(x); }
SW_FN int __isinf(double x) { return __builtin_isinf(x); }
SW_FN int __isinff(float x) { return __builtin_isinf(x); }
SW_FN int __isnan(double x) { return __builtin_isnan(x); }
SW_FN int __isnanf(float x) { return __builtin_isnan(x); }
SW_FN int __signbit(double x) { return __builtin_signbit(x); }
SW_FN int __signbitf(float x) { return __builtin_signbit(x); }
#endif
SW_FN double fdivide(double x, double y) { return x / y; }
SW_FN float fdividef(float x, float y) { return x / y; }

// The fast intrinsics are as accurate as the standard functions here.
SW_FN float __sinf(float x) { return sinf(x); }
SW_FN float __cosf(float x) { return cosf(x); }
SW_FN float __tanf(float x) { return tanf(x); }
SW_FN void __sincosf(float x, float* s, float* c) { sincosf(x, s, c); }
SW_FN float __expf(float x) { return expf(x); }
SW_FN float __exp10f(float x) { return exp10f(x); }
SW_FN float __logf(float x) { return logf(x); }
SW_FN float __log2f(float x) { return log2f(x); }
SW_FN float __log10f(float x) { return log10f(x); }
SW_FN float __powf(float x, float y) { return powf(x, y); }
SW_FN float __tanhf(float x) { return tanhf(x); }
SW_FN float __fdividef(float x, float y) { return x / y; }
SW_FN float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }
SW_FN float __frsqrt_rn(float x) { return 1.0f / __builtin_sqrtf(x); }

// These must round after each operation, so the compiler must not contract them.
#if defined(__clang__)
#define SW_ROUNDED(x) __arithmetic_fence(x)
#else
#define SW_ROUNDED(x) __builtin_assoc_barrier(x)
#endif
SW_FN float __fadd_rn(float x, float y) { return SW_ROUNDED(x + y); }
SW_FN float __fsub_rn(float x, float y) { return SW_ROUNDED(x - y); }
SW_FN float __fmul_rn(float x, float y) { return SW_ROUNDED(x * y); }
SW_FN float __fdiv_rn(float x, float y) { return SW_ROUNDED(x / y); }
SW_FN float __frcp_rn(float x) { return SW_ROUNDED(1.0f / x); }
SW_FN float __fsqrt_rn(float x) { return SW_ROUNDED(__builtin_sqrtf(x)); }
SW_FN float __fmaf_rn(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
SW_FN double __dadd_rn(double x, double y) { return SW_ROUNDED(x + y); }
SW_FN double __dsub_rn(double x, double y) { return SW_ROUNDED(x - y); }
SW_FN double __dmul_rn(double x, double y) { return SW_ROUNDED(x * y); }
SW_FN double __ddiv_rn(double x, double y) { return SW_ROUNDED(x / y); }
SW_FN double __drcp_rn(double x) { return SW_ROUNDED(1.0 / x); }
SW_FN double __dsqrt_rn(double x) { return SW_ROUNDED(__builtin_sqrt(x)); }
SW_FN double __fma_rn(double x, double y, double z) { return __builtin_fma(x, y, z); }

#if defined(SW_WITH_ROUNDING) || defined(SW_WITH_ALL)
#include "spanwise_rounding.h"
#endif
#if defined(SW_WITH_SPECIAL) || defined(SW_WITH_ALL)
#include "spanwise_special.h"
#endif
