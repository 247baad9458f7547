// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// What each operation does to one element: the one text for both devices. The host compiles it as
// C++ inside a namespace for each instruction set, NVRTC as CUDA C; so nothing here includes
// anything, and SW_FN says what a function is (inline, or __device__ too). Rules are NumPy's
// (numpy/_core/src/umath/loops.c.src, npymath), sources of others are named where they are used.

struct Bool {
  unsigned char byte;  // as another library may have left it: any but 0 is true
};
struct Half {
  unsigned short bits;
};
struct BFloat {
  unsigned short bits;
};
template <class T>
struct Complex {
  T re, im;
};

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

#define SW_MATH1(name)                                 \
  SW_FN float m_##name(float x) { return name##f(x); } \
  SW_FN double m_##name(double x) { return name(x); }
#define SW_MATH2(name)                                             \
  SW_FN float m_##name(float x, float y) { return name##f(x, y); } \
  SW_FN double m_##name(double x, double y) { return name(x, y); }
SW_MATH1(exp)
SW_MATH1(exp2)
SW_MATH1(expm1)
SW_MATH1(log)
SW_MATH1(log2)
SW_MATH1(log10)
SW_MATH1(log1p)
SW_MATH1(sqrt)
SW_MATH1(cbrt)
SW_MATH1(sin)
SW_MATH1(cos)
SW_MATH1(tan)
SW_MATH1(asin)
SW_MATH1(acos)
SW_MATH1(atan)
SW_MATH1(sinh)
SW_MATH1(cosh)
SW_MATH1(tanh)
SW_MATH1(asinh)
SW_MATH1(acosh)
SW_MATH1(atanh)
SW_MATH1(floor)
SW_MATH1(ceil)
SW_MATH1(trunc)
SW_MATH1(rint)
SW_MATH1(fabs)
SW_MATH1(erf)
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

// Complex numbers stand in lexicographic order; NaN is in none.
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
SW_FN bool up_to(T a, T b) {
  return a <= b;
}
template <class T>
SW_FN bool up_to(Complex<T> a, Complex<T> b) {
  return (a.re < b.re && a.im == a.im && b.im == b.im) || (a.re == b.re && a.im <= b.im);
}

// ---- arithmetic; integers without a sign, so that they wrap (1u keeps shorts from becoming int)

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
// Division by -1 would trap for the lowest value; its quotient wraps.
template <class T>
struct IsSigned {
  static const bool value = (T)-1 < (T)1;
};

struct FloorDivide {
  template <class T>
  static SW_FN T of(T a, T b) {
    if (b == 0) return 0;
    if (IsSigned<T>::value && b == (T)-1) return (T)(0ull - (unsigned long long)a);
    const T quotient = (T)(a / b);
    const bool is_below = IsSigned<T>::value && (T)(quotient * b) != a && (a < 0) != (b < 0);
    return is_below ? (T)(quotient - 1) : quotient;
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
    const T rest = (T)(a % b);
    return rest != 0 && IsSigned<T>::value && (rest < 0) != (b < 0) ? (T)(rest + b) : rest;
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
struct Positive {
  template <class T>
  static SW_FN T of(T a) {
    return a;
  }
};
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
    const T size = m_hypot(a.re, a.im);
    if (size == 0) return complex((T)0, (T)0);
    if (is_finite(size)) return complex(a.re / size, a.im / size);
    if (is_nan(size) || (is_inf(a.re) && is_inf(a.im))) return complex(nan_of<T>(), nan_of<T>());
    if (is_inf(a.re)) return complex(a.re > 0 ? (T)1 : (T)-1, (T)0);
    return complex((T)0, a.im > 0 ? (T)1 : (T)-1);
  }
};
struct Square {
  template <class T>
  static SW_FN T of(T a) {
    return Multiply::of(a, a);
  }
};
struct Reciprocal {
  // Of integers as C converts the quotient; 1 / 0, which C leaves open, gives what x86-64 gives.
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
      const T ratio = a.im / a.re, under = a.re + a.im * ratio;
      return complex((T)1 / under, -ratio / under);
    }
    const T ratio = a.re / a.im, under = a.re * ratio + a.im;
    return complex(ratio / under, (T)-1 / under);
  }
};

// Squares and multiplies. Negative exponents of integers are refused: by the host before, on a GPU
// after the kernel, which only has to end.
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

struct Equal {
  template <class T>
  static SW_FN bool of(T a, T b) {
    return same(a, b);
  }
  static SW_FN bool of(long long a, unsigned long long b) {
    return a >= 0 && (unsigned long long)a == b;
  }
};
struct NotEqual {
  template <class T>
  static SW_FN bool of(T a, T b) {
    return !same(a, b);
  }
  static SW_FN bool of(long long a, unsigned long long b) { return !Equal::of(a, b); }
};
struct Less {
  template <class T>
  static SW_FN bool of(T a, T b) {
    return precedes(a, b);
  }
  static SW_FN bool of(long long a, unsigned long long b) {
    return a < 0 || (unsigned long long)a < b;
  }
};
struct LessEqual {
  template <class T>
  static SW_FN bool of(T a, T b) {
    return up_to(a, b);
  }
  static SW_FN bool of(long long a, unsigned long long b) {
    return a < 0 || (unsigned long long)a <= b;
  }
};
struct Greater {
  template <class T>
  static SW_FN bool of(T a, T b) {
    return precedes(b, a);
  }
  static SW_FN bool of(long long a, unsigned long long b) { return !LessEqual::of(a, b); }
};
struct GreaterEqual {
  template <class T>
  static SW_FN bool of(T a, T b) {
    return up_to(b, a);
  }
  static SW_FN bool of(long long a, unsigned long long b) { return !Less::of(a, b); }
};
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

struct BitwiseAnd {
  template <class T>
  static SW_FN T of(T a, T b) {
    return (T)(a & b);
  }
};
struct BitwiseOr {
  template <class T>
  static SW_FN T of(T a, T b) {
    return (T)(a | b);
  }
};
struct BitwiseXor {
  template <class T>
  static SW_FN T of(T a, T b) {
    return (T)(a ^ b);
  }
};
struct Invert {
  template <class T>
  static SW_FN T of(T a) {
    return (T)~a;
  }
  static SW_FN bool of(bool a) { return !a; }
};
// Beyond the width, and by a negative count, everything is shifted out.
struct LeftShift {
  template <class T>
  static SW_FN T of(T a, T b) {
    return (unsigned long long)b < 8 * sizeof(T) ? (T)((unsigned long long)a << b) : (T)0;
  }
};
struct RightShift {
  template <class T>
  static SW_FN T of(T a, T b) {
    if ((unsigned long long)b < 8 * sizeof(T)) return (T)(a >> b);
    return IsSigned<T>::value && a < 0 ? (T)-1 : (T)0;
  }
};

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
SW_UNARY(Exp, exp)
SW_UNARY(Exp2, exp2)
SW_UNARY(Expm1, expm1)
SW_UNARY(Log, log)
SW_UNARY(Log2, log2)
SW_UNARY(Log10, log10)
SW_UNARY(Log1p, log1p)
SW_UNARY(Sqrt, sqrt)
SW_UNARY(Sin, sin)
SW_UNARY(Cos, cos)
SW_UNARY(Tan, tan)
SW_UNARY(Arcsin, asin)
SW_UNARY(Arccos, acos)
SW_UNARY(Arctan, atan)
SW_UNARY(Sinh, sinh)
SW_UNARY(Cosh, cosh)
SW_UNARY(Tanh, tanh)
SW_UNARY(Arcsinh, asinh)
SW_UNARY(Arccosh, acosh)
SW_UNARY(Arctanh, atanh)

#define SW_REAL(Name, expression) \
  struct Name {                   \
    template <class T>            \
    static SW_FN T of(T x) {      \
      return expression;          \
    }                             \
  };
SW_REAL(Cbrt, m_cbrt(x))
SW_REAL(Erf, m_erf(x))
SW_REAL(Fabs, m_fabs(x))
SW_REAL(Deg2Rad, x*(T)(3.14159265358979323846 / 180.0))
SW_REAL(Rad2Deg, x*(T)(180.0 / 3.14159265358979323846))
// The exponent is never above 0, so nothing overflows on the way.
SW_REAL(Sigmoid, x >= 0 ? (T)1 / ((T)1 + m_exp(-x)) : m_exp(x) / ((T)1 + m_exp(x)))
SW_REAL(Softplus, (x < 0 ? (T)0 : x) + m_log1p(m_exp(-m_fabs(x))))

struct Floor {
  template <class T>
  static SW_FN T of(T x) {
    return m_floor(x);
  }
};
struct Ceil {
  template <class T>
  static SW_FN T of(T x) {
    return m_ceil(x);
  }
};
struct Trunc {
  template <class T>
  static SW_FN T of(T x) {
    return m_trunc(x);
  }
};
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

struct Arctan2 {
  template <class T>
  static SW_FN T of(T y, T x) {
    return m_atan2(y, x);
  }
};
struct Hypot {
  template <class T>
  static SW_FN T of(T x, T y) {
    return m_hypot(x, y);
  }
};
struct Copysign {
  template <class T>
  static SW_FN T of(T x, T y) {
    return m_copysign(x, y);
  }
};
struct Nextafter {
  template <class T>
  static SW_FN T of(T x, T y) {
    return m_nextafter(x, y);
  }
  static SW_FN Half of(Half x, Half y) { return step(x, y, 0x7c00); }
  static SW_FN BFloat of(BFloat x, BFloat y) { return step(x, y, 0x7f80); }
  // Sign and magnitude make an order of their own; `infinity` is the largest magnitude of a number.
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
struct Heaviside {
  template <class T>
  static SW_FN T of(T x, T at_zero) {
    return is_nan(x) ? x : x == 0 ? at_zero : x < 0 ? (T)0 : (T)1;
  }
};
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

// ---- what a number is

struct Isnan {
  template <class T>
  static SW_FN bool of(T x) {
    return is_nan(x);
  }
};
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
struct Signbit {
  template <class T>
  static SW_FN bool of(T x) {
    return m_copysign((T)1, x) < 0;
  }
};
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

// ---- choice; minimum and maximum pass NaN on, fmin and fmax pass it over

struct Maximum {
  template <class T>
  static SW_FN T of(T a, T b) {
    return is_nan(a) || up_to(b, a) ? a : b;
  }
  static SW_FN bool of(bool a, bool b) { return a | b; }
};
struct Minimum {
  template <class T>
  static SW_FN T of(T a, T b) {
    return is_nan(a) || up_to(a, b) ? a : b;
  }
  static SW_FN bool of(bool a, bool b) { return a & b; }
};
struct Fmax {
  template <class T>
  static SW_FN T of(T a, T b) {
    return is_nan(b) || up_to(b, a) ? a : b;
  }
  static SW_FN bool of(bool a, bool b) { return a | b; }
};
struct Fmin {
  template <class T>
  static SW_FN T of(T a, T b) {
    return is_nan(b) || up_to(a, b) ? a : b;
  }
  static SW_FN bool of(bool a, bool b) { return a & b; }
};
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
