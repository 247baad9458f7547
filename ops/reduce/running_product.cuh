// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Products of floating-point and complex numbers in a scan. The product of a part of a line is
// computed before what precedes it is known, and must not overflow or underflow unless the running
// product of the line does: therefore exponents are stored separately. A running product of the
// line that does overflow or underflow stays infinite or 0, as in sequential multiplication.

// The product is value * 2^exponent. The magnitude of value, of a complex one's larger part, is in
// [0.5, 1); or value is 0 or not finite, and exponent is 0. `highest` and `lowest` are the largest
// and smallest exponents of the running products up to each element, of those that are neither 0
// nor infinite; in combined parts they may be slightly too small and too large, so that no product
// is lost unnecessarily.
template <class T>
struct Running {
  T value;
  int exponent, highest, lowest;
};

SW_FN double size_of(double x) { return fabs(x); }
SW_FN double size_of(Complex<double> x) {
  // NaN if either part is: fmax would ignore it.
  return x.re != x.re ? x.re : x.im != x.im ? x.im : fmax(fabs(x.re), fabs(x.im));
}
SW_FN double scaled(double x, int exponent) { return ldexp(x, exponent); }
SW_FN Complex<double> scaled(Complex<double> x, int exponent) {
  Complex<double> z = {ldexp(x.re, exponent), ldexp(x.im, exponent)};
  return z;
}
SW_FN double stretched(double x, double factor) { return x * factor; }
SW_FN Complex<double> stretched(Complex<double> x, double factor) {
  Complex<double> z = {x.re * factor, x.im * factor};
  return z;
}

template <class T>
struct RunningProduct {
  typedef Running<T> Acc;
  typedef NoParam Param;

  static SW_FN Acc identity() {
    Acc one = {To<T>::from(0.5), 1, -far, far};
    return one;
  }
  template <class U>
  static SW_FN Acc lift(U x, Param) {
    return normal(To<T>::from(x), 0);
  }
  // Not inlined, because it is long.
  static __device__ __noinline__ Acc combine(Acc a, Acc b) {
    if (is_nothing(a)) return b;
    if (is_nothing(b)) return a;
    Acc c = normal(times(a.value, b.value), a.exponent + b.exponent);
    int highest = c.highest, lowest = c.lowest;
    if (!is_end(a.value) && b.highest >= b.lowest) {
      highest = larger(highest, limited(a.exponent + b.highest - 1));
      lowest = -larger(-lowest, -limited(a.exponent + b.lowest));
    }
    c.highest = larger(a.highest, highest);
    c.lowest = -larger(-a.lowest, -lowest);
    return c;
  }

 private:
  // An exponent that no product recovers from; the sum of two still fits in an int.
  static const int far = 1 << 29;

  static SW_FN bool is_end(T x) {
    const double size = size_of(x);
    return size == 0 || !(size < Ends<double>::high());
  }
  static SW_FN int limited(int exponent) {
    return exponent > far ? far : exponent < -far ? -far : exponent;
  }
  static __device__ __noinline__ Acc normal(T value, int exponent) {
    Acc x = {value, 0, -far, far};
    if (is_end(value)) return x;
    int own;
    frexp(size_of(value), &own);
    x.value = scaled(value, -own);
    x.exponent = x.highest = x.lowest = limited(exponent + own);
    return x;
  }
  static SW_FN int larger(int a, int b) { return a > b ? a : b; }
  static SW_FN bool is_nothing(Acc x) { return x.highest < x.lowest && !is_end(x.value); }
};

template <class T>
SW_FN T outcome(Running<T> x) {
  if (x.highest > 1024) return stretched(x.value, Ends<double>::high());
  if (x.lowest < -1074) return stretched(x.value, 0.0);
  return scaled(x.value, x.exponent);
}
template <class T>
SW_FN T outcome(T x) {
  return x;
}
