// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Special functions of CUDA that the C library lacks (CUDA Math API 13.0), in double; those of
// float round their results.

// exp(x * x) * erfc(x).
static inline double erfcx(double x) {
  if (x < -26.63) return __builtin_inf();
  if (x < 10) {
    // The exponent is a sum of two doubles, because exp() multiplies its error.
    const double square = SW_ROUNDED(x * x), growth = exp(square);
    return (growth + growth * __builtin_fma(x, x, -square)) * erfc(x);
  }
  // Laplace's continued fraction.
  double tail = 0;
  for (int k = 40; k > 0; --k) tail = 0.5 * k / (x + tail);
  return 0.56418958354775628695 / (x + tail);
}
// The z of erf(z) == x, by Newton's method; for large x that of erfc(z) == 1 - x, by Newton's
// method for log(erfc(z)), which is concave. `small` is 1 - |x|.
static inline double sw_erf_inverse(double x, double small) {
  const bool is_large = small < 0.5;
  const double target = is_large ? log(small) : x;
  double z = is_large ? __builtin_sqrt(-target) - 0.5 : 0.88622692545275801365 * x;
  for (int i = 0; i < 50; ++i) {
    const double scaled = is_large ? erfcx(z) : exp(z * z);
    const double error = is_large ? log(scaled) - z * z - target : target - erf(z);
    const double step = error * scaled * 0.88622692545275801365;
    z += step;
    if (__builtin_fabs(step) <= 1e-9 * __builtin_fabs(z)) break;
  }
  return is_large ? __builtin_copysign(z, x) : z;
}
SW_FN double erfinv(double x) {
  const double small = 1 - __builtin_fabs(x);
  if (!(small > 0)) return small == 0 ? __builtin_copysign(__builtin_inf(), x) : __builtin_nan("");
  return sw_erf_inverse(x, small);
}
SW_FN double erfcinv(double x) {
  if (!(x > 0 && x < 2))
    return x == 0 ? __builtin_inf() : x == 2 ? -__builtin_inf() : __builtin_nan("");
  return sw_erf_inverse(1 - x, x < 1 ? x : 2 - x);
}
SW_FN double normcdfinv(double x) { return -1.41421356237309504880 * erfcinv(2 * x); }

// Modified Bessel functions of order 0 and 1: the power series, whose terms are positive, and for
// large x the asymptotic series.
SW_FN double sw_bessel_i(int order, double x) {
  const double size = __builtin_fabs(x), sign = order == 1 && x < 0 ? -1 : 1;
  double term = 1, sum = 1;
  if (size < 25) {
    const double square = 0.25 * x * x;
    for (int k = 1; term > 1e-18 * sum; ++k) sum += term *= square / (k * (k + order));
    return sum * (order == 1 ? 0.5 * x : 1);
  }
  for (int k = 1; k < 30 && __builtin_fabs(term) > 1e-18; ++k)
    sum += term *= ((2 * k - 1) * (2 * k - 1) - 4 * order) / (8 * size * k);
  const double growth = exp(0.5 * size);
  return sign * growth * (sum * 0.39894228040143267794 / __builtin_sqrt(size)) * growth;
}
SW_FN double cyl_bessel_i0(double x) { return sw_bessel_i(0, x); }
SW_FN double cyl_bessel_i1(double x) { return sw_bessel_i(1, x); }

#define SW_OF_FLOAT(name) \
  SW_FN float name##f(float x) { return (float)name((double)x); }
SW_OF_FLOAT(erfcx)
SW_OF_FLOAT(erfcinv)
SW_OF_FLOAT(erfinv)
SW_OF_FLOAT(normcdfinv)
SW_OF_FLOAT(cyl_bessel_i0)
SW_OF_FLOAT(cyl_bessel_i1)
#undef SW_OF_FLOAT
SW_FLOAT_OVERLOAD(erfcx)
SW_FLOAT_OVERLOAD(erfcinv)
SW_FLOAT_OVERLOAD(erfinv)
SW_FLOAT_OVERLOAD(normcdfinv)

// Norms of vectors, scaled by a power of two that keeps the squares in range.
template <class SwT>
SW_FN SwT sw_norm(int count, const SwT* x) {
  SwT largest = 0;
  for (int i = 0; i < count; ++i) {
    if (__builtin_isinf(x[i])) return (SwT)__builtin_inf();
    if (!(__builtin_fabs(x[i]) <= largest)) largest = __builtin_fabs(x[i]);
  }
  if (!(largest > 0)) return largest;
  const int exponent = ilogb(largest);
  double sum = 0;
  for (int i = 0; i < count; ++i) {
    const double part = scalbn((double)x[i], -exponent);
    sum += part * part;
  }
  return (SwT)scalbn(__builtin_sqrt(sum), exponent);
}
SW_FN double norm(int count, const double* x) { return sw_norm(count, x); }
SW_FN float normf(int count, const float* x) { return sw_norm(count, x); }
SW_FN double rnorm(int count, const double* x) { return 1 / sw_norm(count, x); }
SW_FN float rnormf(int count, const float* x) { return 1 / sw_norm(count, x); }
