// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Operations on one element; see numbers.cuh.

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
