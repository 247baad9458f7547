// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Elements from one dtype to another on a GPU. The 16-bit floats are bits in memory and floats in
// registers, so that no header of CUDA is needed.

SW_FN float widened(Half x) {
  float y;
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
  return y;
}
SW_FN float widened(BFloat x) { return __uint_as_float((unsigned)x.bits << 16); }

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
    return from((float)To<float>::from(x));
  }
  static SW_FN Half from(Half x) { return x; }
  static SW_FN Half from(float x) {
    Half y;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
    return y;
  }
  static SW_FN Half from(double x) {
    Half y;
    asm("cvt.rn.f16.f64 %0, %1;" : "=h"(y.bits) : "d"(x));
    return y;
  }
};
template <>
struct To<BFloat> {
  template <class T>
  static SW_FN BFloat from(T x) {
    return from((float)To<float>::from(x));
  }
  static SW_FN BFloat from(BFloat x) { return x; }
  static SW_FN BFloat from(float x) {
    const unsigned word = __float_as_uint(x);
    BFloat y;
    y.bits = (word & 0x7fffffffu) > 0x7f800000u
                 ? (unsigned short)((word >> 16) | 0x40u)
                 : (unsigned short)((word + 0x7fffu + ((word >> 16) & 1u)) >> 16);
    return y;
  }
  // Cut, with what was cut off in the last bit: so the second rounding is right.
  static SW_FN BFloat from(double x) {
    const float cut = __double2float_rz(x);
    const bool is_inexact = (double)cut != x && x == x;
    return from(is_inexact ? __uint_as_float(__float_as_uint(cut) | 1u) : cut);
  }
};
