// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// The bodies of the reductions: how each converts an element and combines two accumulators. Both
// devices use this text: the host compiles it as C++ inside a namespace for each instruction set,
// NVRTC as CUDA C; so it includes nothing. The including text defines SW_FN (inline, and __device__
// on a GPU) and widened(), which converts a 16-bit float to float.
//
// A body has the types Acc, the accumulator, and Param, an additional value per output; and the
// functions identity(), lift(x, p), which converts an element to Acc, and combine(a, b). combine()
// need not commute: a precedes b.

template <class A>
struct To {
  template <class T>
  static SW_FN A from(T x) {
    return (A)x;
  }
  static SW_FN A from(Bool x) { return (A)(x.byte != 0); }
  static SW_FN A from(Half x) { return (A)widened(x); }
  static SW_FN A from(BFloat x) { return (A)widened(x); }
};
template <class A>
struct To<Complex<A> > {
  template <class T>
  static SW_FN Complex<A> from(T x) {
    Complex<A> z = {To<A>::from(x), (A)0};
    return z;
  }
  template <class T>
  static SW_FN Complex<A> from(Complex<T> x) {
    Complex<A> z = {(A)x.re, (A)x.im};
    return z;
  }
};

template <class T>
SW_FN bool truth(T x) {
  return x != 0;
}
SW_FN bool truth(Bool x) { return x.byte != 0; }
SW_FN bool truth(Half x) { return (x.bits & 0x7fff) != 0; }
SW_FN bool truth(BFloat x) { return (x.bits & 0x7fff) != 0; }
template <class T>
SW_FN bool truth(Complex<T> x) {
  return (x.re != 0) | (x.im != 0);
}

template <class T>
SW_FN bool is_nan(T x) {
  return x != x;
}
template <class T>
SW_FN bool is_nan(Complex<T> x) {
  return (x.re != x.re) | (x.im != x.im);
}
// Whether x is NaN although comparisons with it may be true: a complex NaN may have one part that
// is a number.
template <class T>
SW_FN bool is_loose_nan(T) {
  return false;
}
template <class T>
SW_FN bool is_loose_nan(Complex<T> x) {
  return is_nan(x);
}
// Complex numbers are compared lexicographically.
template <class T>
SW_FN bool precedes(T a, T b) {
  return a < b;
}
template <class T>
SW_FN bool precedes(Complex<T> a, Complex<T> b) {
  return (a.re < b.re) | ((a.re == b.re) & (a.im < b.im));
}

template <class T>
SW_FN T plus(T a, T b) {
  return a + b;
}
template <class T>
SW_FN Complex<T> plus(Complex<T> a, Complex<T> b) {
  Complex<T> z = {a.re + b.re, a.im + b.im};
  return z;
}
template <class T>
SW_FN T times(T a, T b) {
  return a * b;
}
template <class T>
SW_FN Complex<T> times(Complex<T> a, Complex<T> b) {
  Complex<T> z = {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  return z;
}

// The identity of addition: -0 for floating point, since 0 + -0 is 0. A sum starts from it, and 0
// is added at the end if there is no initial value.
template <class A>
struct NoTerm {
  static SW_FN A value() { return (A)0; }
};
template <>
struct NoTerm<float> {
  static SW_FN float value() { return -0.0f; }
};
template <>
struct NoTerm<double> {
  static SW_FN double value() { return -0.0; }
};
template <class A>
struct NoTerm<Complex<A> > {
  static SW_FN Complex<A> value() {
    Complex<A> z = {NoTerm<A>::value(), NoTerm<A>::value()};
    return z;
  }
};

struct NoParam {};

// Integers are added modulo 2^64, as in NumPy; floating point in double precision, so that a sum of
// 32-bit floats is rounded to 32 bits only at the end.
template <class A>
struct Sum {
  typedef A Acc;
  typedef NoParam Param;
  static SW_FN A identity() { return NoTerm<A>::value(); }
  template <class T>
  static SW_FN A lift(T x, Param) {
    return To<A>::from(x);
  }
  static SW_FN A combine(A a, A b) { return plus(a, b); }
};
template <class A>
struct Product {
  typedef A Acc;
  typedef NoParam Param;
  static SW_FN A identity() { return To<A>::from(1); }
  template <class T>
  static SW_FN A lift(T x, Param) {
    return To<A>::from(x);
  }
  static SW_FN A combine(A a, A b) { return times(a, b); }
};
template <class A>
struct SumOfNumbers {
  typedef A Acc;
  typedef NoParam Param;
  static SW_FN A identity() { return NoTerm<A>::value(); }
  template <class T>
  static SW_FN A lift(T x, Param) {
    const A value = To<A>::from(x);
    return is_nan(value) ? To<A>::from(0) : value;
  }
  static SW_FN A combine(A a, A b) { return plus(a, b); }
};

SW_FN double square(double x, double mean) { return (x - mean) * (x - mean); }
SW_FN double square(Complex<double> x, Complex<double> mean) {
  return square(x.re, mean.re) + square(x.im, mean.im);
}
// The sum of squared deviations from the mean, of type P.
template <class P>
struct Deviation {
  typedef double Acc;
  typedef P Param;
  static SW_FN double identity() { return 0; }
  template <class T>
  static SW_FN double lift(T x, P mean) {
    return square(To<P>::from(x), mean);
  }
  static SW_FN double combine(double a, double b) { return a + b; }
};

// The highest and the lowest value of a type, the identities of Lowest and Highest.
template <class T>
struct Ends {
  static SW_FN T high() {
    return (T)(((T)-1 < (T)0) ? (T) ~((unsigned long long)1 << (sizeof(T) * 8 - 1)) : (T)-1);
  }
  static SW_FN T low() { return (T)~high() < high() ? (T)~high() : (T)0; }
};
template <>
struct Ends<float> {
  static SW_FN float high() { return (float)(1e308 * 10); }
  static SW_FN float low() { return -high(); }
};
template <>
struct Ends<double> {
  static SW_FN double high() { return 1e308 * 10; }
  static SW_FN double low() { return -high(); }
};
template <class T>
struct Ends<Complex<T> > {
  static SW_FN Complex<T> high() {
    Complex<T> z = {Ends<T>::high(), Ends<T>::high()};
    return z;
  }
  static SW_FN Complex<T> low() {
    Complex<T> z = {Ends<T>::low(), Ends<T>::low()};
    return z;
  }
};

// NaN propagates, as in NumPy.
template <class A>
struct Lowest {
  typedef A Acc;
  typedef NoParam Param;
  static SW_FN A identity() { return Ends<A>::high(); }
  template <class T>
  static SW_FN A lift(T x, Param) {
    return To<A>::from(x);
  }
  static SW_FN A combine(A a, A b) {
    return ((precedes(b, a) | is_nan(b)) & !is_loose_nan(a)) ? b : a;
  }
};
template <class A>
struct Highest {
  typedef A Acc;
  typedef NoParam Param;
  static SW_FN A identity() { return Ends<A>::low(); }
  template <class T>
  static SW_FN A lift(T x, Param) {
    return To<A>::from(x);
  }
  static SW_FN A combine(A a, A b) {
    return ((precedes(a, b) | is_nan(b)) & !is_loose_nan(a)) ? b : a;
  }
};

struct Any {
  typedef unsigned char Acc;
  typedef NoParam Param;
  static SW_FN Acc identity() { return 0; }
  template <class T>
  static SW_FN Acc lift(T x, Param) {
    return truth(x);
  }
  static SW_FN Acc combine(Acc a, Acc b) { return a | b; }
};
struct All {
  typedef unsigned char Acc;
  typedef NoParam Param;
  static SW_FN Acc identity() { return 1; }
  template <class T>
  static SW_FN Acc lift(T x, Param) {
    return truth(x);
  }
  static SW_FN Acc combine(Acc a, Acc b) { return a & b; }
};
struct Count {
  typedef unsigned long long Acc;
  typedef NoParam Param;
  static SW_FN Acc identity() { return 0; }
  template <class T>
  static SW_FN Acc lift(T x, Param) {
    return truth(x);
  }
  static SW_FN Acc combine(Acc a, Acc b) { return a + b; }
};

// A value and its index; index -1 means that there is no value yet.
template <class V>
struct Placed {
  V value;
  long long place;
};
// The first index of the extreme that Value looks for.
template <class Value>
struct PlaceOf {
  typedef Value Of;
  typedef Placed<typename Value::Acc> Acc;
  typedef NoParam Param;
  static SW_FN Acc identity() {
    Acc none = {Value::identity(), -1};
    return none;
  }
  template <class T>
  static SW_FN Acc lift(T x, Param p, long long place) {
    Acc one = {Value::lift(x, p), place};
    return one;
  }
  static SW_FN Acc combine(Acc a, Acc b) {
    if (a.place < 0 || b.place < 0) return a.place < 0 ? b : a;
    const bool a_is_nan = is_nan(a.value), b_is_nan = is_nan(b.value);
    if (a_is_nan || b_is_nan) {
      if (a_is_nan && b_is_nan) return a.place < b.place ? a : b;
      return a_is_nan ? a : b;
    }
    const bool same = !precedes(a.value, b.value) && !precedes(b.value, a.value);
    if (same) return a.place < b.place ? a : b;
    return is_first(a.value, b.value) ? a : b;
  }
  // Whether b, which follows a, replaces a as the extreme.
  static SW_FN bool displaces(typename Value::Acc a, typename Value::Acc b) {
    return !is_nan(a) & (is_nan(b) | is_first(b, a));
  }
  static SW_FN bool is_first(typename Value::Acc a, typename Value::Acc b) {
    return precedes(Value::identity(), Ends<typename Value::Acc>::high()) ? precedes(b, a)
                                                                          : precedes(a, b);
  }
};
