// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Complex functions for GPUs, whose math library has none. The inverses and tanh follow W. Kahan,
// "Branch Cuts for Complex Elementary Functions" (1987). After element_operations.cuh.

// Powers of four such that products of huge_of() with the smallest numbers of T, and of tiny_of()
// with the largest, are in the middle of its range; and their square roots, which are exact.
template <class T>
SW_FN T huge_of() {
  return sizeof(T) == 4 ? (T)18446744073709551616.0 : (T)3.273390607896142e150;  // 2^64, 2^500
}
template <class T>
SW_FN T tiny_of() {
  return (T)1 / huge_of<T>();
}
template <class T>
SW_FN T root_of_huge() {
  return sizeof(T) == 4 ? (T)4294967296.0 : (T)1.8092513943330656e75;  // 2^32, 2^250
}
template <class T>
SW_FN T root_of_tiny() {
  return sizeof(T) == 4 ? (T)2.3283064365386963e-10 : (T)5.527147875260445e-76;  // 2^-32, 2^-250
}

template <class T>
SW_FN Complex<T> c_exp(Complex<T> x) {
  if (x.im == 0) return complex(m_exp(x.re), x.im);
  if (!is_finite(x.im)) {
    if (is_inf(x.re) && x.re < 0) return complex((T)0, (T)0);
    if (is_inf(x.re)) return complex(x.re, nan_of<T>());
    return complex(nan_of<T>(), nan_of<T>());
  }
  const T modulus = m_exp(x.re), c = m_cos(x.im), s = m_sin(x.im);
  if (is_finite(modulus) || is_inf(x.re)) return complex(modulus * c, modulus * s);
  const T root = m_exp(x.re * (T)0.5);  // the parts may be finite though the modulus is not
  return complex(root * c * root, root * s * root);
}
// The logarithm of the modulus; the modulus itself may overflow or be inaccurate.
template <class T>
SW_FN T log_of_modulus(Complex<T> x) {
  const T a = m_fabs(x.re), b = m_fabs(x.im);
  const T large = a > b ? a : b, little = a > b ? b : a;
  if (is_finite(large) && (large > huge_of<T>() || large < tiny_of<T>())) {
    const T scale = large > (T)1 ? tiny_of<T>() : huge_of<T>();
    return m_log(m_hypot(a * scale, b * scale)) - m_log(scale);
  }
  const T modulus = m_hypot(a, b);
  if (modulus < (T)0.5 || modulus > (T)2 || is_nan(modulus)) return m_log(modulus);
  return m_log1p((large - 1) * (large + 1) + little * little) * (T)0.5;
}
template <class T>
SW_FN Complex<T> c_log(Complex<T> x) {
  return complex(log_of_modulus(x), m_atan2(x.im, x.re));
}
template <class T>
SW_FN Complex<T> c_sqrt(Complex<T> x) {
  if (x.re == 0 && x.im == 0) return complex((T)0, x.im);
  if (is_inf(x.im)) return complex(m_fabs(x.im), x.im);
  if (is_inf(x.re)) {
    if (x.re > 0) return complex(x.re, is_nan(x.im) ? x.im : m_copysign((T)0, x.im));
    return complex(is_nan(x.im) ? x.im : (T)0, m_copysign(x.re, x.im));
  }
  // Scaled by a power of four, so that neither the sum overflows nor a part underflows.
  const bool is_small = m_fabs(x.re) < (T)1 && m_fabs(x.im) < (T)1;
  const T scale = is_small ? huge_of<T>() : (T)0.0625,
          unscale = is_small ? root_of_tiny<T>() : (T)4;
  const T re = x.re * scale, im = x.im * scale;
  const T root = m_sqrt((m_fabs(re) + m_hypot(re, im)) * (T)0.5);
  const T larger = root * unscale, smaller = m_fabs(im) / root * (T)0.5 * unscale;
  if (x.re >= 0) return complex(larger, m_copysign(smaller, x.im));
  return complex(smaller, m_copysign(larger, x.im));
}
template <class T>
SW_FN Complex<T> c_sinh(Complex<T> x) {
  if (x.im == 0) return complex(m_sinh(x.re), x.im);
  return complex(m_sinh(x.re) * m_cos(x.im), m_cosh(x.re) * m_sin(x.im));
}
template <class T>
SW_FN Complex<T> c_cosh(Complex<T> x) {
  if (x.im == 0) return complex(m_cosh(x.re), m_copysign((T)1, x.re) * x.im);
  return complex(m_cosh(x.re) * m_cos(x.im), m_sinh(x.re) * m_sin(x.im));
}
template <class T>
SW_FN Complex<T> c_tanh(Complex<T> x) {
  if (m_fabs(x.re) > (sizeof(T) == 4 ? (T)11 : (T)22)) {  // where tanh(x.re) rounds to 1
    const T sign = m_copysign((T)1, x.re);
    if (!is_finite(x.im) && is_inf(x.re)) return complex(sign, m_copysign((T)0, x.im));
    const T small = m_exp((T)-2 * m_fabs(x.re));
    return complex(is_finite(x.im) ? sign : nan_of<T>(), (T)4 * m_sin(x.im) * m_cos(x.im) * small);
  }
  if (is_nan(x.re) && x.im == 0) return x;
  const T t = m_tan(x.im), beta = (T)1 + t * t, s = m_sinh(x.re), rho = m_sqrt((T)1 + s * s);
  const T denominator = (T)1 + beta * s * s;
  return complex(beta * rho * s / denominator, t / denominator);
}
template <class T>
SW_FN Complex<T> c_cos(Complex<T> x) {
  return c_cosh(complex(-x.im, x.re));
}
// f(x) = -i g(i x)
#define SW_ROTATED(f, g)                          \
  template <class T>                              \
  SW_FN Complex<T> f(Complex<T> x) {              \
    const Complex<T> z = g(complex(-x.im, x.re)); \
    return complex(z.im, -z.re);                  \
  }
SW_ROTATED(c_sin, c_sinh)
SW_ROTATED(c_tan, c_tanh)
SW_ROTATED(c_asin, c_asinh)
SW_ROTATED(c_atan, c_atanh)

// ---- inverses. If a part is infinite or NaN, the results are those of the tables of C 2024,
// annex G.6, in which some functions follow from others by a rotation of the plane.

// acos of x with a part that is infinite or NaN.
template <class T>
SW_FN Complex<T> acos_of_nonfinite(Complex<T> x) {
  const T quarter_pi = (T)0.785398163397448309615660845819875721;
  const T down = -m_copysign(infinity_of<T>(), x.im);
  if (is_inf(x.re)) {
    if (is_nan(x.im)) return complex(x.im, down);
    if (is_inf(x.im)) return complex(x.re > 0 ? quarter_pi : 3 * quarter_pi, down);
    return complex(x.re > 0 ? (T)0 : 4 * quarter_pi, down);
  }
  if (is_inf(x.im)) return complex(is_nan(x.re) ? x.re : 2 * quarter_pi, down);
  return complex(x.re == 0 ? 2 * quarter_pi : nan_of<T>(), nan_of<T>());
}
template <class T>
SW_FN Complex<T> c_acos(Complex<T> x) {
  if (!is_finite(x.re) || !is_finite(x.im)) return acos_of_nonfinite(x);
  if (m_fabs(x.re) > root_of_huge<T>() || m_fabs(x.im) > root_of_huge<T>())  // -i log(2 x), nearly
    return complex(m_atan2(m_fabs(x.im), x.re), -m_copysign(log_of_modulus(x) + ln2<T>(), x.im));
  const Complex<T> root_minus = c_sqrt(complex((T)1 - x.re, -x.im));
  const Complex<T> root_plus = c_sqrt(complex((T)1 + x.re, x.im));
  return complex((T)2 * m_atan2(root_minus.re, root_plus.re),
                 m_asinh(Multiply::of(complex(root_plus.re, -root_plus.im), root_minus).im));
}
// asinh of x with a part that is infinite or NaN.
template <class T>
SW_FN Complex<T> asinh_of_nonfinite(Complex<T> x) {
  const T quarter_pi = (T)0.785398163397448309615660845819875721;
  if (is_inf(x.re)) {
    if (is_nan(x.im)) return x;
    return complex(x.re, m_copysign(is_inf(x.im) ? quarter_pi : (T)0, x.im));
  }
  if (is_inf(x.im))
    return complex(m_copysign(x.im, x.re), is_nan(x.re) ? x.re : m_copysign(2 * quarter_pi, x.im));
  return complex(nan_of<T>(), x.im == 0 ? x.im : nan_of<T>());
}
template <class T>
SW_FN Complex<T> c_asinh(Complex<T> x) {
  if (!is_finite(x.re) || !is_finite(x.im)) return asinh_of_nonfinite(x);
  if (m_fabs(x.re) > root_of_huge<T>() || m_fabs(x.im) > root_of_huge<T>())
    return complex(m_copysign(log_of_modulus(x) + ln2<T>(), x.re), m_atan2(x.im, m_fabs(x.re)));
  // asin(-y + i x), rotated back.
  const Complex<T> root_minus = c_sqrt(complex((T)1 + x.im, -x.re));
  const Complex<T> root_plus = c_sqrt(complex((T)1 - x.im, x.re));
  return complex(m_asinh(Multiply::of(complex(root_minus.re, -root_minus.im), root_plus).im),
                 -m_atan2(-x.im, Multiply::of(root_minus, root_plus).re));
}
template <class T>
SW_FN Complex<T> c_acosh(Complex<T> x) {
  const Complex<T> z = c_acos(x);
  if (is_nan(z.re) || is_nan(z.im))
    return complex(is_inf(z.im) ? m_fabs(z.im) : nan_of<T>(),
                   is_nan(z.im) && x.re == 0 ? z.re : nan_of<T>());
  return complex(m_fabs(z.im), m_copysign(z.re, x.im));
}
template <class T>
SW_FN Complex<T> c_atanh(Complex<T> x) {
  const T a = m_fabs(x.re), b = m_fabs(x.im);
  const T half_pi = (T)1.570796326794896619231321691639751442;
  if (is_inf(a) || is_inf(b)) {
    const T re = is_inf(b) || a == a ? (T)0 : a;
    return complex(m_copysign(re, x.re), is_nan(b) ? b : m_copysign(half_pi, x.im));
  }
  if (is_nan(a) || is_nan(b)) return complex(a == 0 ? x.re : nan_of<T>(), nan_of<T>());
  // The squares overflow; the result is close to 1 / x.
  const T large = sizeof(T) == 4 ? (T)1e9 : (T)1e150;
  if (a > large || b > large) {
    const T modulus = m_hypot(a * (T)0.5, b * (T)0.5);
    return complex(x.re / modulus / modulus * (T)0.25, m_copysign(half_pi, x.im));
  }
  if (a == 1 && b < (sizeof(T) == 4 ? (T)1e-9 : (T)1e-150)) {  // the squares underflow
    const T re = b == 0 ? infinity_of<T>() : (T)0.5 * (m_log((T)2) - m_log(b));
    return complex(m_copysign(re, x.re), b == 0 ? x.im : m_copysign(half_pi * (T)0.5, x.im));
  }
  const T difference = (T)1 - a, square = b * b;
  return complex(m_copysign((T)0.25 * m_log1p((T)4 * a / (difference * difference + square)), x.re),
                 (T)0.5 * m_atan2((T)2 * x.im, difference * ((T)1 + a) - square));
}

// ---- powers and logarithms

// The direction of an infinite number: 1 for an infinite part, 0 for a finite one, with its sign.
template <class T>
SW_FN Complex<T> direction(Complex<T> x) {
  return complex(m_copysign(is_inf(x.re) ? (T)1 : (T)0, x.re),
                 m_copysign(is_inf(x.im) ? (T)1 : (T)0, x.im));
}
// The product of C's annex G.5.1: infinite times nonzero is infinite, even if the plain formula
// gives NaN.
template <class T>
SW_FN Complex<T> times_to_infinity(Complex<T> a, Complex<T> b) {
  const Complex<T> plain = Multiply::of(a, b);
  if (!is_nan(plain.re) || !is_nan(plain.im)) return plain;
  const bool is_inf_a = is_inf(a.re) || is_inf(a.im), is_inf_b = is_inf(b.re) || is_inf(b.im);
  if (!is_inf_a && !is_inf_b) return plain;
  const auto without_nan = [](Complex<T> x) {
    return complex(is_nan(x.re) ? m_copysign((T)0, x.re) : x.re,
                   is_nan(x.im) ? m_copysign((T)0, x.im) : x.im);
  };
  const Complex<T> z = Multiply::of(is_inf_a ? direction(a) : without_nan(a),
                                    is_inf_b ? direction(b) : without_nan(b));
  return complex(infinity_of<T>() * z.re, infinity_of<T>() * z.im);
}
template <class T>
SW_FN Complex<T> c_pow(Complex<T> a, Complex<T> b) {
  return c_exp(times_to_infinity(b, c_log(a)));
}
template <class T>
SW_FN Complex<T> c_log1p(Complex<T> x) {
  // For 1 + x near 1, the logarithm of its modulus would be inaccurate.
  const bool is_near_one = m_fabs(x.re) < (T)0.5 && m_fabs(x.im) < (T)0.5;
  const Complex<T> sum = complex(x.re + 1, x.im);
  const T log_modulus =
      is_near_one ? m_log1p(x.re * (x.re + 2) + x.im * x.im) * (T)0.5 : log_of_modulus(sum);
  return complex(log_modulus, m_atan2(x.im, sum.re));
}
