// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

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
