// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Products of floating-point and complex numbers in a scan. The product of a part of a line is
// computed before the product of the elements before that part is known, and must not overflow or
// underflow unless the running product of the line does: therefore exponents are stored separately.
// A running product of the line that does overflow or underflow stays infinite or 0, as in
// sequential multiplication.

// The product is value * 2^exponent. The magnitude of value (of the larger part of a complex
// number) is in [0.5, 1); or value is 0 or not finite, and exponent is 0. `highest` and `lowest`
// are the largest and smallest exponents of the running products up to each element, of those that
// are neither 0 nor infinite; in combined parts they may be slightly too small and too large, so
// that no product is lost unnecessarily.
template <class T>
struct ScaledProduct {
  T value;
  int exponent, highest, lowest;
};

SW_FN double magnitude(double x) { return fabs(x); }
SW_FN double magnitude(Complex<double> x) {
  // NaN if either part is: fmax would ignore it.
  return x.re != x.re ? x.re : x.im != x.im ? x.im : fmax(fabs(x.re), fabs(x.im));
}
SW_FN double scaled(double x, int exponent) { return ldexp(x, exponent); }
SW_FN Complex<double> scaled(Complex<double> x, int exponent) {
  Complex<double> z = {ldexp(x.re, exponent), ldexp(x.im, exponent)};
  return z;
}
SW_FN double multiplied(double x, double factor) { return x * factor; }
SW_FN Complex<double> multiplied(Complex<double> x, double factor) {
  Complex<double> z = {x.re * factor, x.im * factor};
  return z;
}

template <class T>
struct RunningProduct {
  typedef ScaledProduct<T> Acc;
  typedef NoParam Param;

  static SW_FN Acc identity() {
    Acc one = {AsAccumulator<T>::from(0.5), 1, -exponent_limit, exponent_limit};
    return one;
  }
  template <class U>
  static SW_FN Acc transform(U x, Param) {
    return normal(AsAccumulator<T>::from(x), 0);
  }
  // Not inlined, because it is long.
  static __device__ __noinline__ Acc combine(Acc a, Acc b) {
    if (is_identity(a)) return b;
    if (is_identity(b)) return a;
    Acc c = normal(times(a.value, b.value), a.exponent + b.exponent);
    int highest = c.highest, lowest = c.lowest;
    if (!is_zero_or_not_finite(a.value) && b.highest >= b.lowest) {
      highest = max_of(highest, limited(a.exponent + b.highest - 1));
      lowest = -max_of(-lowest, -limited(a.exponent + b.lowest));
    }
    c.highest = max_of(a.highest, highest);
    c.lowest = -max_of(-a.lowest, -lowest);
    return c;
  }

 private:
  // An exponent that no product recovers from; the sum of two still fits in an int.
  static const int exponent_limit = 1 << 29;

  static SW_FN bool is_zero_or_not_finite(T x) {
    const double size = magnitude(x);
    return size == 0 || !(size < Limits<double>::high());
  }
  static SW_FN int limited(int exponent) {
    return exponent > exponent_limit    ? exponent_limit
           : exponent < -exponent_limit ? -exponent_limit
                                        : exponent;
  }
  // value * 2^exponent as a ScaledProduct.
  static __device__ __noinline__ Acc normal(T value, int exponent) {
    Acc x = {value, 0, -exponent_limit, exponent_limit};
    if (is_zero_or_not_finite(value)) return x;
    int shift;
    frexp(magnitude(value), &shift);
    x.value = scaled(value, -shift);
    x.exponent = x.highest = x.lowest = limited(exponent + shift);
    return x;
  }
  static SW_FN int max_of(int a, int b) { return a > b ? a : b; }
  static SW_FN bool is_identity(Acc x) {
    return x.highest < x.lowest && !is_zero_or_not_finite(x.value);
  }
};

template <class T>
SW_FN T result_of(ScaledProduct<T> x) {
  if (x.highest > 1024) return multiplied(x.value, Limits<double>::high());
  if (x.lowest < -1074) return multiplied(x.value, 0.0);
  return scaled(x.value, x.exponent);
}
template <class T>
SW_FN T result_of(T x) {
  return x;
}
