// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Operations on one element; see numbers.cuh.

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
    return less_or_equal(a, b);
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
    return less_or_equal(b, a);
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
// Counts that are negative or at least the width shift out all bits.
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

// ---- classification

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

// ---- selection; minimum and maximum propagate NaN, fmin and fmax ignore it

struct Maximum {
  template <class T>
  static SW_FN T of(T a, T b) {
    return is_nan(a) || less_or_equal(b, a) ? a : b;
  }
  static SW_FN bool of(bool a, bool b) { return a | b; }
};
struct Minimum {
  template <class T>
  static SW_FN T of(T a, T b) {
    return is_nan(a) || less_or_equal(a, b) ? a : b;
  }
  static SW_FN bool of(bool a, bool b) { return a & b; }
};
struct Fmax {
  template <class T>
  static SW_FN T of(T a, T b) {
    return is_nan(b) || less_or_equal(b, a) ? a : b;
  }
  static SW_FN bool of(bool a, bool b) { return a | b; }
};
struct Fmin {
  template <class T>
  static SW_FN T of(T a, T b) {
    return is_nan(b) || less_or_equal(a, b) ? a : b;
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
