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
