// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Operations on one element; see numbers.cuh.

// ---- exponentials, logarithms, roots, angles

#define SW_UNARY(Name, function)                                 \
  struct Name {                                                  \
    static SW_FN float of(float x) { return m_##function(x); }   \
    static SW_FN double of(double x) { return m_##function(x); } \
    template <class T>                                           \
    static SW_FN Complex<T> of(Complex<T> x) {                   \
      return c_##function(x);                                    \
    }                                                            \
  };
SW_FUNCTIONS(SW_UNARY)
SW_OPERATION1(Cbrt, T, m_cbrt(x))
SW_OPERATION1(Erf, T, m_erf(x))
SW_OPERATION1(Fabs, T, m_fabs(x))
SW_OPERATION1(Deg2Rad, T, x*(T)(3.14159265358979323846 / 180.0))
SW_OPERATION1(Rad2Deg, T, x*(T)(180.0 / 3.14159265358979323846))
// The exponent is never above 0, so nothing overflows on the way.
SW_OPERATION1(Sigmoid, T, x >= 0 ? (T)1 / ((T)1 + m_exp(-x)) : m_exp(x) / ((T)1 + m_exp(x)))
SW_OPERATION1(Softplus, T, (x < 0 ? (T)0 : x) + m_log1p(m_exp(-m_fabs(x))))

SW_OPERATION1(Floor, T, m_floor(x))
SW_OPERATION1(Ceil, T, m_ceil(x))
SW_OPERATION1(Trunc, T, m_trunc(x))
struct Rint {
  template <class T>
  static SW_FN T of(T x) {
    return m_rint(x);
  }
  template <class T>
  static SW_FN Complex<T> of(Complex<T> x) {
    return complex(m_rint(x.re), m_rint(x.im));
  }
};

SW_OPERATION2(Arctan2, T, m_atan2(a, b))
SW_OPERATION2(Hypot, T, m_hypot(a, b))
SW_OPERATION2(Copysign, T, m_copysign(a, b))
struct Nextafter {
  template <class T>
  static SW_FN T of(T x, T y) {
    return m_nextafter(x, y);
  }
  static SW_FN Half of(Half x, Half y) { return step(x, y, 0x7c00); }
  static SW_FN BFloat of(BFloat x, BFloat y) { return step(x, y, 0x7f80); }
  // In sign and magnitude, adjacent numbers have adjacent bits; `infinity` is the largest
  // magnitude.
  template <class T>
  static SW_FN T step(T x, T y, int infinity) {
    const int size_x = x.bits & 0x7fff, size_y = y.bits & 0x7fff;
    if (size_x > infinity) return x;
    if (size_y > infinity) return y;
    const int place_x = x.bits & 0x8000 ? -size_x : size_x;
    const int place_y = y.bits & 0x8000 ? -size_y : size_y;
    if (place_x == place_y) return y;
    T z = x;
    if (size_x == 0)
      z.bits = (unsigned short)(1 | (y.bits & 0x8000));
    else
      z.bits = (unsigned short)((place_x < place_y) == (place_x > 0) ? x.bits + 1 : x.bits - 1);
    return z;
  }
};
SW_OPERATION2(Heaviside, T, is_nan(a) ? a : a == 0 ? b : a < 0 ? (T)0 : (T)1)
struct Logaddexp {
  template <class T>
  static SW_FN T of(T x, T y) {
    if (x == y) return x + (T)0.693147180559945309417232121458176568;
    const T apart = x - y;
    return apart > 0 ? x + m_log1p(m_exp(-apart)) : apart <= 0 ? y + m_log1p(m_exp(apart)) : apart;
  }
};
struct Logaddexp2 {
  template <class T>
  static SW_FN T of(T x, T y) {
    const T per_log2 = (T)1.442695040888963407359924681001892137;
    if (x == y) return x + (T)1;
    const T apart = x - y;
    return apart > 0    ? x + per_log2 * m_log1p(m_exp2(-apart))
           : apart <= 0 ? y + per_log2 * m_log1p(m_exp2(apart))
                        : apart;
  }
};
