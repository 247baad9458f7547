// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Operations on one element; see numbers.cuh.

// ---- complex functions that the C++ library lacks, by those that it has. c_exp(), c_log(), ...
// are functions of the C++ library on the CPU, and of complex.cuh on a GPU.

template <class T>
SW_FN Complex<T> scaled(Complex<T> x, T factor) {
  return complex(x.re * factor, x.im * factor);
}
template <class T>
SW_FN Complex<T> c_exp2(Complex<T> x) {
  return c_exp(scaled(x, ln2<T>()));
}
// As nc_expm1 of numpy/_core/src/umath/funcs.inc.src.
template <class T>
SW_FN Complex<T> c_expm1(Complex<T> x) {
  const T sine = m_sin(x.im / 2);
  return complex(m_expm1(x.re) * m_cos(x.im) - 2 * sine * sine, m_exp(x.re) * m_sin(x.im));
}
template <class T>
SW_FN Complex<T> c_log2(Complex<T> x) {
  return scaled(c_log(x), log2_e<T>());
}
template <class T>
SW_FN Complex<T> c_log10(Complex<T> x) {
  return scaled(c_log(x), (T)0.434294481903251827651128918916605082);  // log10 of e
}

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
// The argument of m_exp() is never above 0, so that no intermediate value overflows.
SW_OPERATION1(Sigmoid, T, x >= 0 ? (T)1 / ((T)1 + m_exp(-x)) : m_exp(x) / ((T)1 + m_exp(x)))
SW_OPERATION1(Softplus, T, (x < 0 ? (T)0 : x) + m_log1p(m_exp(-m_fabs(x))))

// ---- rounding

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

// ---- functions of two numbers

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
  // The bits of a 16-bit float are a sign and a magnitude, and adjacent numbers have adjacent
  // magnitudes. `infinity` is the magnitude of infinity; those above it are NaN.
  template <class T>
  static SW_FN T step(T x, T y, int infinity) {
    const int magnitude_x = x.bits & 0x7fff, magnitude_y = y.bits & 0x7fff;
    if (magnitude_x > infinity) return x;
    if (magnitude_y > infinity) return y;
    const int signed_x = x.bits & 0x8000 ? -magnitude_x : magnitude_x;
    const int signed_y = y.bits & 0x8000 ? -magnitude_y : magnitude_y;
    if (signed_x == signed_y) return y;
    T z = x;
    if (magnitude_x == 0)
      z.bits = (unsigned short)(1 | (y.bits & 0x8000));
    else
      z.bits = (unsigned short)((signed_x < signed_y) == (signed_x > 0) ? x.bits + 1 : x.bits - 1);
    return z;
  }
};
SW_OPERATION2(Heaviside, T, is_nan(a) ? a : a == 0 ? b : a < 0 ? (T)0 : (T)1)
struct Logaddexp {
  template <class T>
  static SW_FN T of(T x, T y) {
    if (x == y) return x + ln2<T>();
    const T difference = x - y;  // NaN is the result
    return difference > 0    ? x + m_log1p(m_exp(-difference))
           : difference <= 0 ? y + m_log1p(m_exp(difference))
                             : difference;
  }
};
struct Logaddexp2 {
  template <class T>
  static SW_FN T of(T x, T y) {
    if (x == y) return x + (T)1;
    const T difference = x - y;
    return difference > 0    ? x + log2_e<T>() * m_log1p(m_exp2(-difference))
           : difference <= 0 ? y + log2_e<T>() * m_log1p(m_exp2(difference))
                             : difference;
  }
};
