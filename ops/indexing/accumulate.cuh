// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// The accumulation of one element, for both devices: the host compiles this text as C++, NVRTC as
// CUDA C; so it includes nothing. The including text defines SW_FN (inline, and __device__ on a
// GPU), includes elements.cuh of sdk/device, and defines the conversions of 16-bit floats,
// widened(), narrow_half() and narrow_bfloat(). Results are those of numpy.add, numpy.subtract, ...
// Integers are unsigned where signedness makes no difference, so that they wrap around.

SW_FN Bool as_bool(bool x) {
  const Bool byte = {(unsigned char)x};
  return byte;
}

template <class T>
SW_FN bool is_nan(Complex<T> x) {
  return x.re != x.re || x.im != x.im;
}
// Complex numbers are compared lexicographically; comparisons with NaN are false.
template <class T>
SW_FN bool precedes(Complex<T> a, Complex<T> b) {
  return a.re < b.re || (a.re == b.re && a.im < b.im);
}

struct Plus {
  template <class T>
  static SW_FN T of(T a, T b) {
    return (T)(a + b);
  }
  template <class T>
  static SW_FN Complex<T> of(Complex<T> a, Complex<T> b) {
    const Complex<T> z = {a.re + b.re, a.im + b.im};
    return z;
  }
  static SW_FN Bool of(Bool a, Bool b) { return as_bool(a.byte != 0 || b.byte != 0); }
};
struct Minus {
  template <class T>
  static SW_FN T of(T a, T b) {
    return (T)(a - b);
  }
  template <class T>
  static SW_FN Complex<T> of(Complex<T> a, Complex<T> b) {
    const Complex<T> z = {a.re - b.re, a.im - b.im};
    return z;
  }
};
struct Times {
  template <class T>
  static SW_FN T of(T a, T b) {
    return (T)(1u * a *
               b);  // 1u: otherwise unsigned short would be promoted to int, which may overflow
  }
  static SW_FN float of(float a, float b) { return a * b; }
  static SW_FN double of(double a, double b) { return a * b; }
  template <class T>
  static SW_FN Complex<T> of(Complex<T> a, Complex<T> b) {
    const Complex<T> z = {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    return z;
  }
  static SW_FN Bool of(Bool a, Bool b) { return as_bool(a.byte != 0 && b.byte != 0); }
};
// NaN propagates; of two equal values the first is kept. Without branches, which would be
// mispredicted.
struct Largest {
  template <class T>
  static SW_FN T of(T a, T b) {
    return (a >= b) | (a != a) ? a : b;
  }
  template <class T>
  static SW_FN Complex<T> of(Complex<T> a, Complex<T> b) {
    return is_nan(a) || (!is_nan(b) && !precedes(a, b)) ? a : b;
  }
  static SW_FN Bool of(Bool a, Bool b) { return Plus::of(a, b); }
};
struct Smallest {
  template <class T>
  static SW_FN T of(T a, T b) {
    return (a <= b) | (a != a) ? a : b;
  }
  template <class T>
  static SW_FN Complex<T> of(Complex<T> a, Complex<T> b) {
    return is_nan(a) || (!is_nan(b) && !precedes(b, a)) ? a : b;
  }
  static SW_FN Bool of(Bool a, Bool b) { return Times::of(a, b); }
};

template <class How, class T>
SW_FN T accumulated(T a, T b) {
  return How::of(a, b);
}
template <class How>
SW_FN Half accumulated(Half a, Half b) {
  return narrow_half(How::of(widened(a), widened(b)));
}
template <class How>
SW_FN BFloat accumulated(BFloat a, BFloat b) {
  return narrow_bfloat(How::of(widened(a), widened(b)));
}
