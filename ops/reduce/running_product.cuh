// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Products of real and complex numbers in a scan. Parts of a line are multiplied by themselves
// before what stands before them is known, and must not overflow or vanish where the line does
// not: their exponents are kept apart. What a line does lose on its way stays lost, as where one
// number after the other is multiplied: infinite and 0 are the ends that its products came to.

// The product is value * 2^exponent. The value is of [0.5, 1), the larger part of a complex one, or
// it is 0 or not finite and the exponent 0. `highest` and `lowest` are over the exponents of the
// products up to each element, as far as those are neither; where parts were joined they may be a
// little less and a little more than that, so that nothing is lost that need not be.
template <class T>
struct Running {
  T value;
  int exponent, highest, lowest;
};

SW_FN double size_of(double x) { return fabs(x); }
SW_FN double size_of(Complex<double> x) {
  // NaN where either is: fmax would drop it.
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
  // Called, not written out for each element: it is long.
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
  // Beyond what any product comes back from; two of them are still an int.
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
