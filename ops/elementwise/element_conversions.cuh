// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Conversions between dtypes on a GPU: To<C>::from(x) is x as a C. 16-bit floats are bits in memory
// and floats in registers, so that no CUDA header is needed.

template <class C>
struct To {
  template <class T>
  static SW_FN C from(T x) {
    return (C)x;
  }
  template <class T>
  static SW_FN C from(Complex<T> x) {
    return (C)x.re;
  }
  static SW_FN C from(Bool x) { return (C)(x.byte != 0); }
  static SW_FN C from(Half x) { return (C)widened(x); }
  static SW_FN C from(BFloat x) { return (C)widened(x); }
};
template <>
struct To<bool> {
  template <class T>
  static SW_FN bool from(T x) {
    return x != 0;
  }
  template <class T>
  static SW_FN bool from(Complex<T> x) {
    return x.re != 0 || x.im != 0;
  }
  static SW_FN bool from(Bool x) { return x.byte != 0; }
  static SW_FN bool from(Half x) { return (x.bits & 0x7fff) != 0; }
  static SW_FN bool from(BFloat x) { return (x.bits & 0x7fff) != 0; }
};
template <>
struct To<Bool> {
  template <class T>
  static SW_FN Bool from(T x) {
    return store(To<bool>::from(x));
  }
};
template <class R>
struct To<Complex<R> > {
  template <class T>
  static SW_FN Complex<R> from(T x) {
    return complex(To<R>::from(x), (R)0);
  }
  template <class T>
  static SW_FN Complex<R> from(Complex<T> x) {
    return complex((R)x.re, (R)x.im);
  }
};
template <>
struct To<Half> {
  template <class T>
  static SW_FN Half from(T x) {
    return from(To<float>::from(x));
  }
  static SW_FN Half from(Half x) { return x; }
  static SW_FN Half from(float x) { return narrow_half(x); }
  static SW_FN Half from(double x) { return narrow_half(x); }
};
template <>
struct To<BFloat> {
  template <class T>
  static SW_FN BFloat from(T x) {
    return from(To<float>::from(x));
  }
  static SW_FN BFloat from(BFloat x) { return x; }
  static SW_FN BFloat from(float x) { return narrow_bfloat(x); }
  static SW_FN BFloat from(double x) { return narrow_bfloat(x); }
};
