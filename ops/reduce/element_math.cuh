// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Conversions, comparisons and arithmetic of elements, for bodies.cuh; compiled as it is, on both
// devices. The including text defines SW_FN (inline, and __device__ on a GPU) and widened(), which
// converts a 16-bit float to float.

template <class A>
struct AsAccumulator {
  template <class T>
  static SW_FN A from(T x) {
    return (A)x;
  }
  static SW_FN A from(Bool x) { return (A)(x.byte != 0); }
  static SW_FN A from(Half x) { return (A)widened(x); }
  static SW_FN A from(BFloat x) { return (A)widened(x); }
};
template <class A>
struct AsAccumulator<Complex<A> > {
  template <class T>
  static SW_FN Complex<A> from(T x) {
    Complex<A> z = {AsAccumulator<A>::from(x), (A)0};
    return z;
  }
  template <class T>
  static SW_FN Complex<A> from(Complex<T> x) {
    Complex<A> z = {(A)x.re, (A)x.im};
    return z;
  }
};

template <class T>
SW_FN bool is_nonzero(T x) {
  return x != 0;
}
SW_FN bool is_nonzero(Bool x) { return x.byte != 0; }
SW_FN bool is_nonzero(Half x) { return (x.bits & 0x7fff) != 0; }
SW_FN bool is_nonzero(BFloat x) { return (x.bits & 0x7fff) != 0; }
template <class T>
SW_FN bool is_nonzero(Complex<T> x) {
  return (x.re != 0) | (x.im != 0);
}

template <class T>
SW_FN bool is_nan(T x) {
  return x != x;
}
template <class T>
SW_FN bool is_nan(Complex<T> x) {
  return (x.re != x.re) | (x.im != x.im);
}
// Whether x is NaN although comparisons with it may be true: a complex NaN may have one part that
// is a number.
template <class T>
SW_FN bool is_complex_nan(T) {
  return false;
}
template <class T>
SW_FN bool is_complex_nan(Complex<T> x) {
  return is_nan(x);
}
// Complex numbers are compared lexicographically.
template <class T>
SW_FN bool precedes(T a, T b) {
  return a < b;
}
template <class T>
SW_FN bool precedes(Complex<T> a, Complex<T> b) {
  return (a.re < b.re) | ((a.re == b.re) & (a.im < b.im));
}

template <class T>
SW_FN T plus(T a, T b) {
  return a + b;
}
template <class T>
SW_FN Complex<T> plus(Complex<T> a, Complex<T> b) {
  Complex<T> z = {a.re + b.re, a.im + b.im};
  return z;
}
template <class T>
SW_FN T times(T a, T b) {
  return a * b;
}
template <class T>
SW_FN Complex<T> times(Complex<T> a, Complex<T> b) {
  Complex<T> z = {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  return z;
}
