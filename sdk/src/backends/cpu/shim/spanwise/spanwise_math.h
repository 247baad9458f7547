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
#include "spanwise_libm.h"
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
SW_FN double normcdf(double x) { return 0.5 * erfc(-x * 0.70710678118654752440); }
SW_FN float normcdff(float x) { return 0.5f * erfcf(-x * 0.70710678f); }
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
