// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// The operations on one element, for both devices: the host compiles this text as C++ inside a
// namespace per instruction set, NVRTC as CUDA C; so it includes nothing. The including text puts
// elements.cuh of sdk/device before it and defines SW_FN (inline, and __device__ on a GPU). Results
// are NumPy's (numpy/_core/src/umath/loops.c.src, npymath); other sources are named where they are
// used.

// Elements in memory and in registers differ for bool only: Bool in memory, see elements.cuh.
template <class T>
SW_FN T load(T x) {
  return x;
}
SW_FN bool load(Bool x) { return x.byte != 0; }

template <class T>
struct Stored {
  typedef T type;
};
template <>
struct Stored<bool> {
  typedef Bool type;
};
template <class T>
SW_FN T store(T x) {
  return x;
}
SW_FN Bool store(bool x) {
  Bool byte = {(unsigned char)x};
  return byte;
}

// ---- numbers

// F(Name, name) for each function of real and complex numbers: the operation Name, and the name in
// C. SW_COMPLEX_FUNCTIONS are those that the C++ library has for complex numbers.
// clang-format off: a table
#define SW_COMPLEX_FUNCTIONS(F)                                                                 \
  F(Exp, exp)                                                                                   \
  F(Log, log) F(Sqrt, sqrt) F(Sin, sin) F(Cos, cos) F(Tan, tan) F(Arcsin, asin) F(Arccos, acos) \
      F(Arctan, atan) F(Sinh, sinh) F(Cosh, cosh) F(Tanh, tanh) F(Arcsinh, asinh)               \
          F(Arccosh, acosh) F(Arctanh, atanh)
#define SW_FUNCTIONS(F)   \
  SW_COMPLEX_FUNCTIONS(F) \
  F(Exp2, exp2) F(Expm1, expm1) F(Log2, log2) F(Log10, log10) F(Log1p, log1p)
// clang-format on
#define SW_MATH1(Name, name)                           \
  SW_FN float m_##name(float x) { return name##f(x); } \
  SW_FN double m_##name(double x) { return name(x); }
#define SW_MATH2(name)                                             \
  SW_FN float m_##name(float x, float y) { return name##f(x, y); } \
  SW_FN double m_##name(double x, double y) { return name(x, y); }
SW_FUNCTIONS(SW_MATH1)
SW_MATH1(, cbrt)
SW_MATH1(, floor)
SW_MATH1(, ceil)
SW_MATH1(, trunc)
SW_MATH1(, rint)
SW_MATH1(, fabs)
SW_MATH1(, erf)
SW_MATH2(pow)
SW_MATH2(fmod)
SW_MATH2(atan2)
SW_MATH2(hypot)
SW_MATH2(copysign)
SW_MATH2(nextafter)

template <class T>
SW_FN bool is_nan(T) {
  return false;
}
SW_FN bool is_nan(float x) { return x != x; }
SW_FN bool is_nan(double x) { return x != x; }
template <class T>
SW_FN bool is_nan(Complex<T> x) {
  return x.re != x.re || x.im != x.im;
}
template <class T>
SW_FN bool is_finite(T x) {
  return x - x == 0;
}
template <class T>
SW_FN bool is_inf(T x) {
  return x == x && x - x != 0;
}
template <class T>
SW_FN Complex<T> complex(T re, T im) {
  Complex<T> z = {re, im};
  return z;
}
template <class T>
SW_FN T nan_of() {
  return (T)nanf("");
}
template <class T>
SW_FN T infinity_of() {
  return (T)(1e300 * 1e300);
}

template <class T>
SW_FN T ln2() {
  return (T)0.693147180559945309417232121458176568;
}
template <class T>
SW_FN T log2_e() {
  return (T)1.442695040888963407359924681001892137;
}

// Complex numbers are compared lexicographically; comparisons with NaN are false.
template <class T>
SW_FN bool precedes(T a, T b) {
  return a < b;
}
template <class T>
SW_FN bool precedes(Complex<T> a, Complex<T> b) {
  return (a.re < b.re && a.im == a.im && b.im == b.im) || (a.re == b.re && a.im < b.im);
}
template <class T>
SW_FN bool same(T a, T b) {
  return a == b;
}
template <class T>
SW_FN bool same(Complex<T> a, Complex<T> b) {
  return a.re == b.re && a.im == b.im;
}
template <class T>
SW_FN bool less_or_equal(T a, T b) {
  return a <= b;
}
template <class T>
SW_FN bool less_or_equal(Complex<T> a, Complex<T> b) {
  return (a.re < b.re && a.im == a.im && b.im == b.im) || (a.re == b.re && a.im <= b.im);
}

// ---- operations that one expression of x, or of a and b, defines for all types

#define SW_OPERATION1(Name, Result, expression) \
  struct Name {                                 \
    template <class T>                          \
    static SW_FN Result of(T x) {               \
      return expression;                        \
    }                                           \
  };
#define SW_OPERATION2(Name, Result, expression) \
  struct Name {                                 \
    template <class T>                          \
    static SW_FN Result of(T a, T b) {          \
      return expression;                        \
    }                                           \
  };

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

// ---- comparison and logic

// `mixed` is the result for a signed and an unsigned integer, by value.
#define SW_COMPARISON(Name, expression, mixed)                                \
  struct Name {                                                               \
    template <class T>                                                        \
    static SW_FN bool of(T a, T b) {                                          \
      return expression;                                                      \
    }                                                                         \
    static SW_FN bool of(long long a, unsigned long long b) { return mixed; } \
  };
SW_COMPARISON(Equal, same(a, b), a >= 0 && (unsigned long long)a == b)
SW_COMPARISON(NotEqual, !same(a, b), !Equal::of(a, b))
SW_COMPARISON(Less, precedes(a, b), a < 0 || (unsigned long long)a < b)
SW_COMPARISON(LessEqual, less_or_equal(a, b), a < 0 || (unsigned long long)a <= b)
SW_COMPARISON(Greater, precedes(b, a), !LessEqual::of(a, b))
SW_COMPARISON(GreaterEqual, less_or_equal(b, a), !Less::of(a, b))
struct LogicalAnd {
  static SW_FN bool of(bool a, bool b) { return a & b; }
};
struct LogicalOr {
  static SW_FN bool of(bool a, bool b) { return a | b; }
};
struct LogicalXor {
  static SW_FN bool of(bool a, bool b) { return a != b; }
};
struct LogicalNot {
  static SW_FN bool of(bool a) { return !a; }
};

// ---- bits

SW_OPERATION2(BitwiseAnd, T, (T)(a& b))
SW_OPERATION2(BitwiseOr, T, (T)(a | b))
SW_OPERATION2(BitwiseXor, T, (T)(a ^ b))
struct Invert {
  template <class T>
  static SW_FN T of(T a) {
    return (T)~a;
  }
  static SW_FN bool of(bool a) { return !a; }
};
// Counts that are negative or at least the width shift out all bits.
SW_OPERATION2(LeftShift, T,
              (unsigned long long)b < 8 * sizeof(T) ? (T)((unsigned long long)a << b) : (T)0)
struct RightShift {
  template <class T>
  static SW_FN T of(T a, T b) {
    if ((unsigned long long)b < 8 * sizeof(T)) return (T)(a >> b);
    return IsSigned<T>::value && a < 0 ? (T)-1 : (T)0;
  }
};

// ---- classification

SW_OPERATION1(Isnan, bool, is_nan(x))
struct Isinf {
  template <class T>
  static SW_FN bool of(T x) {
    return is_inf(x);
  }
  template <class T>
  static SW_FN bool of(Complex<T> x) {
    return is_inf(x.re) || is_inf(x.im);
  }
};
struct Isfinite {
  template <class T>
  static SW_FN bool of(T x) {
    return is_finite(x);
  }
  template <class T>
  static SW_FN bool of(Complex<T> x) {
    return is_finite(x.re) && is_finite(x.im);
  }
};
SW_OPERATION1(Signbit, bool, m_copysign((T)1, x) < 0)
struct Conjugate {
  template <class T>
  static SW_FN Complex<T> of(Complex<T> x) {
    return complex(x.re, -x.im);
  }
  template <class T>
  static SW_FN T of(T x) {
    return x;
  }
};
struct Angle {
  template <class T>
  static SW_FN T of(Complex<T> x) {
    return m_atan2(x.im, x.re);
  }
  template <class T>
  static SW_FN T of(T x) {
    return is_nan(x) ? x : m_atan2((T)0, x);
  }
};

// ---- selection; minimum and maximum propagate NaN, fmin and fmax ignore it

#define SW_SELECTION(Name, expression, of_bools)              \
  struct Name {                                               \
    template <class T>                                        \
    static SW_FN T of(T a, T b) {                             \
      return expression;                                      \
    }                                                         \
    static SW_FN bool of(bool a, bool b) { return of_bools; } \
  };
SW_SELECTION(Maximum, is_nan(a) || less_or_equal(b, a) ? a : b, a | b)
SW_SELECTION(Minimum, is_nan(a) || less_or_equal(a, b) ? a : b, a& b)
SW_SELECTION(Fmax, is_nan(b) || less_or_equal(b, a) ? a : b, a | b)
SW_SELECTION(Fmin, is_nan(b) || less_or_equal(a, b) ? a : b, a& b)
struct Clip {
  template <class T>
  static SW_FN T of(T x, T low, T high) {
    return Minimum::of(Maximum::of(x, low), high);
  }
};
struct Where {
  template <class T>
  static SW_FN T of(bool condition, T x, T y) {
    return condition ? x : y;
  }
};

// ---- complex functions that the C++ library lacks, by those that it has. c_exp(), c_log(), ...
// are functions of the C++ library on the CPU, and of complex_functions.cuh on a GPU.

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
