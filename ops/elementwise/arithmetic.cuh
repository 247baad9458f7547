// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Operations on one element; see numbers.cuh.

// ---- arithmetic. The CPU's loops of sign_agnostic operations get unsigned integers, which wrap.
// 1u keeps products of shorts from being promoted to int, whose overflow is undefined.

struct Add {
  template <class T>
  static SW_FN T of(T a, T b) {
    return (T)(a + b);
  }
  static SW_FN bool of(bool a, bool b) { return a || b; }
  template <class T>
  static SW_FN Complex<T> of(Complex<T> a, Complex<T> b) {
    return complex(a.re + b.re, a.im + b.im);
  }
};
struct Subtract {
  template <class T>
  static SW_FN T of(T a, T b) {
    return (T)(a - b);
  }
  template <class T>
  static SW_FN Complex<T> of(Complex<T> a, Complex<T> b) {
    return complex(a.re - b.re, a.im - b.im);
  }
};
struct Multiply {
  template <class T>
  static SW_FN T of(T a, T b) {
    return (T)(1u * a * b);
  }
  static SW_FN float of(float a, float b) { return a * b; }
  static SW_FN double of(double a, double b) { return a * b; }
  static SW_FN bool of(bool a, bool b) { return a && b; }
  template <class T>
  static SW_FN Complex<T> of(Complex<T> a, Complex<T> b) {
    return complex(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
  }
};
struct Divide {
  template <class T>
  static SW_FN T of(T a, T b) {
    return a / b;
  }
  // Scaled by the larger part, so that the squares do not overflow (R. L. Smith, Algorithm 116,
  // CACM 5, 1962).
  template <class T>
  static SW_FN Complex<T> of(Complex<T> a, Complex<T> b) {
    const T re = m_fabs(b.re), im = m_fabs(b.im);
    if (re >= im) {
      if (re == 0 && im == 0) return complex(a.re / re, a.im / re);
      const T ratio = b.im / b.re, scale = (T)1 / (b.re + b.im * ratio);
      return complex((a.re + a.im * ratio) * scale, (a.im - a.re * ratio) * scale);
    }
    const T ratio = b.re / b.im, scale = (T)1 / (b.im + b.re * ratio);
    return complex((a.re * ratio + a.im) * scale, (a.im * ratio - a.re) * scale);
  }
};

// The quotient towards minus infinity and the remainder of the divisor's sign (Python's rule).
template <class T>
SW_FN T float_divmod(T a, T b, T& quotient) {
  T mod = m_fmod(a, b);
  if (b == 0) {
    quotient = a / b;
    return mod;
  }
  T div = (a - mod) / b;
  if (mod != 0) {
    if ((b < 0) != (mod < 0)) {
      mod += b;
      div -= (T)1;
    }
  } else {
    mod = m_copysign((T)0, b);
  }
  if (div != 0) {
    quotient = m_floor(div);
    if (div - quotient > (T)0.5) quotient += (T)1;
  } else {
    quotient = m_copysign((T)0, a / b);
  }
  return mod;
}
template <class T>
struct IsSigned {
  static const bool value = (T)-1 < (T)1;
};

// Integers: 0 for a division by 0. Division of the lowest value by -1 would trap; its quotient
// wraps.
struct FloorDivide {
  template <class T>
  static SW_FN T of(T a, T b) {
    if (b == 0) return 0;
    if (IsSigned<T>::value && b == (T)-1) return (T)(0ull - (unsigned long long)a);
    const T quotient = (T)(a / b);
    // C truncates the quotient.
    const bool is_above = IsSigned<T>::value && (T)(quotient * b) != a && (a < 0) != (b < 0);
    return is_above ? (T)(quotient - 1) : quotient;
  }
  static SW_FN float of(float a, float b) {
    float quotient;
    float_divmod(a, b, quotient);
    return quotient;
  }
  static SW_FN double of(double a, double b) {
    double quotient;
    float_divmod(a, b, quotient);
    return quotient;
  }
};
struct Remainder {
  template <class T>
  static SW_FN T of(T a, T b) {
    if (b == 0 || (IsSigned<T>::value && b == (T)-1)) return 0;
    const T remainder = (T)(a % b);  // of the dividend's sign
    const bool is_opposite = IsSigned<T>::value && (remainder < 0) != (b < 0);
    return remainder != 0 && is_opposite ? (T)(remainder + b) : remainder;
  }
  static SW_FN float of(float a, float b) {
    float quotient;
    return float_divmod(a, b, quotient);
  }
  static SW_FN double of(double a, double b) {
    double quotient;
    return float_divmod(a, b, quotient);
  }
};
struct Fmod {
  template <class T>
  static SW_FN T of(T a, T b) {
    return b == 0 || (IsSigned<T>::value && b == (T)-1) ? (T)0 : (T)(a % b);
  }
  static SW_FN float of(float a, float b) { return m_fmod(a, b); }
  static SW_FN double of(double a, double b) { return m_fmod(a, b); }
};

struct Negative {
  template <class T>
  static SW_FN T of(T a) {
    return (T)(-a);
  }
  template <class T>
  static SW_FN Complex<T> of(Complex<T> a) {
    return complex(-a.re, -a.im);
  }
};
SW_OPERATION1(Positive, T, x)
struct Absolute {
  template <class T>
  static SW_FN T of(T a) {
    return IsSigned<T>::value && a < 0 ? (T)(0ull - (unsigned long long)a) : a;
  }
  static SW_FN float of(float a) { return m_fabs(a); }
  static SW_FN double of(double a) { return m_fabs(a); }
  static SW_FN bool of(bool a) { return a; }
  template <class T>
  static SW_FN T of(Complex<T> a) {
    return m_hypot(a.re, a.im);
  }
};
struct Sign {
  template <class T>
  static SW_FN T of(T a) {
    return a > 0 ? (T)1 : a < 0 ? (T)-1 : a == 0 ? (T)0 : a;
  }
  template <class T>
  static SW_FN Complex<T> of(Complex<T> a) {
    const T modulus = m_hypot(a.re, a.im);
    if (modulus == 0) return complex((T)0, (T)0);
    if (is_finite(modulus)) return complex(a.re / modulus, a.im / modulus);
    if (is_nan(modulus) || (is_inf(a.re) && is_inf(a.im))) return complex(nan_of<T>(), nan_of<T>());
    if (is_inf(a.re)) return complex(a.re > 0 ? (T)1 : (T)-1, (T)0);
    return complex((T)0, a.im > 0 ? (T)1 : (T)-1);
  }
};
SW_OPERATION1(Square, T, Multiply::of(x, x))
struct Reciprocal {
  // Integers: the truncated quotient; 1 / 0, undefined in C, is what NumPy gives on x86-64.
  template <class T>
  static SW_FN T of(T a) {
    if (a == 0)
      return IsSigned<T>::value && sizeof(T) >= 4 ? (T)(1ull << (8 * sizeof(T) - 1)) : (T)0;
    return a == 1 ? (T)1 : IsSigned<T>::value && a == (T)-1 ? (T)-1 : (T)0;
  }
  static SW_FN float of(float a) { return 1.0f / a; }
  static SW_FN double of(double a) { return 1.0 / a; }
  template <class T>
  static SW_FN Complex<T> of(Complex<T> a) {
    if (m_fabs(a.im) <= m_fabs(a.re)) {
      const T ratio = a.im / a.re, denominator = a.re + a.im * ratio;
      return complex((T)1 / denominator, -ratio / denominator);
    }
    const T ratio = a.re / a.im, denominator = a.re * ratio + a.im;
    return complex(ratio / denominator, (T)-1 / denominator);
  }
};

// Binary exponentiation. Negative exponents of integers are errors. On the CPU they are found
// before this is called. On a GPU the error is raised after the kernel, so the loop must not get
// them.
struct Power {
  template <class T>
  static SW_FN T of(T a, T b) {
    if (IsSigned<T>::value && b < 0) {
      if (a == 1) return 1;
      return a == (T)-1 ? ((b & 1) != 0 ? (T)-1 : (T)1) : (T)0;
    }
    T result = 1;
    for (;;) {
      if ((b & 1) != 0) result = (T)(1ull * result * a);
      b = (T)(b >> 1);
      if (b == 0) return result;
      a = (T)(1ull * a * a);
    }
  }
  static SW_FN float of(float a, float b) { return m_pow(a, b); }
  static SW_FN double of(double a, double b) { return m_pow(a, b); }
  template <class T>
  static SW_FN Complex<T> of(Complex<T> a, Complex<T> b) {
    if (b.re == 0 && b.im == 0) return complex((T)1, (T)0);
    if (a.re == 0 && a.im == 0)
      return b.re > 0 ? complex((T)0, (T)0) : complex(nan_of<T>(), nan_of<T>());
    if (b.im == 0 && b.re > -100 && b.re < 100 && m_trunc(b.re) == b.re) {
      int n = (int)b.re;
      const bool inverts = n < 0;
      if (inverts) n = -n;
      if (!inverts && n <= 3) {
        if (n == 1) return a;
        const Complex<T> square = Multiply::of(a, a);
        return n == 2 ? square : Multiply::of(a, square);
      }
      Complex<T> result = complex((T)1, (T)0);
      for (Complex<T> power = a;; power = Multiply::of(power, power)) {
        if (n & 1) result = Multiply::of(result, power);
        n >>= 1;
        if (n == 0) break;
      }
      return inverts ? Reciprocal::of(result) : result;
    }
    return c_pow(a, b);
  }
};
