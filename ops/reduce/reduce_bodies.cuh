// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// The bodies of the reductions: how each converts an element and combines two accumulators. Both
// devices use this text: the host compiles it as C++ inside a namespace for each instruction set,
// NVRTC as CUDA C; so it includes nothing. The including text defines SW_FN (inline, and __device__
// on a GPU) and widened(), which converts a 16-bit float to float.
//
// A body has the types Acc, the accumulator, and Param, an additional value per output; and the
// functions identity(), transform(x, p), which converts an element to Acc, and combine(a, b).
// combine() need not commute: a precedes b.

// ---- conversions, comparisons and arithmetic of elements

template <class A>
struct AsAccumulator {
  template <class T>
  static SW_FN A from(T x) {
    return (A)x;
  }
  static SW_FN A from(Bool x) { return (A)(x.byte != 0); }
  static SW_FN A from(Half x) { return (A)widened(x); }
  static SW_FN A from(BFloat x) { return (A)widened(x); }
};
template <class A>
struct AsAccumulator<Complex<A> > {
  template <class T>
  static SW_FN Complex<A> from(T x) {
    Complex<A> z = {AsAccumulator<A>::from(x), (A)0};
    return z;
  }
  template <class T>
  static SW_FN Complex<A> from(Complex<T> x) {
    Complex<A> z = {(A)x.re, (A)x.im};
    return z;
  }
};

template <class T>
SW_FN bool is_nonzero(T x) {
  return x != 0;
}
SW_FN bool is_nonzero(Bool x) { return x.byte != 0; }
SW_FN bool is_nonzero(Half x) { return (x.bits & 0x7fff) != 0; }
SW_FN bool is_nonzero(BFloat x) { return (x.bits & 0x7fff) != 0; }
template <class T>
SW_FN bool is_nonzero(Complex<T> x) {
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
SW_FN bool is_complex_nan(T) {
  return false;
}
template <class T>
SW_FN bool is_complex_nan(Complex<T> x) {
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

// ---- bodies

// The identity of addition: -0 for floating point, since 0 + -0 is 0. A sum starts from it, and 0
// is added at the end if there is no initial value.
template <class A>
struct AdditiveIdentity {
  static SW_FN A value() { return (A)0; }
};
template <>
struct AdditiveIdentity<float> {
  static SW_FN float value() { return -0.0f; }
};
template <>
struct AdditiveIdentity<double> {
  static SW_FN double value() { return -0.0; }
};
template <class A>
struct AdditiveIdentity<Complex<A> > {
  static SW_FN Complex<A> value() {
    Complex<A> z = {AdditiveIdentity<A>::value(), AdditiveIdentity<A>::value()};
    return z;
  }
};

struct NoParam {};

// The parts of bodies that accumulate converted elements, and of those that ask whether elements
// are 0.
template <class A>
struct OfValues {
  typedef A Acc;
  typedef NoParam Param;
  template <class T>
  static SW_FN A transform(T x, Param) {
    return AsAccumulator<A>::from(x);
  }
};
template <class A>
struct OfNonzeros {
  typedef A Acc;
  typedef NoParam Param;
  template <class T>
  static SW_FN A transform(T x, Param) {
    return is_nonzero(x);
  }
};

// Integers are added modulo 2^64, as in NumPy; floating point in double precision, so that a sum of
// 32-bit floats is rounded to 32 bits only at the end.
template <class A>
struct Sum : OfValues<A> {
  static SW_FN A identity() { return AdditiveIdentity<A>::value(); }
  static SW_FN A combine(A a, A b) { return plus(a, b); }
};
template <class A>
struct Product : OfValues<A> {
  static SW_FN A identity() { return AsAccumulator<A>::from(1); }
  static SW_FN A combine(A a, A b) { return times(a, b); }
};
template <class A>
struct NanSum : Sum<A> {
  template <class T>
  static SW_FN A transform(T x, NoParam) {
    const A value = AsAccumulator<A>::from(x);
    return is_nan(value) ? AsAccumulator<A>::from(0) : value;
  }
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
  static SW_FN double transform(T x, P mean) {
    return square(AsAccumulator<P>::from(x), mean);
  }
  static SW_FN double combine(double a, double b) { return a + b; }
};

// The highest and the lowest value of a type, the identities of Lowest and Highest.
template <class T>
struct Limits {
  static SW_FN T high() {
    return (T)(((T)-1 < (T)0) ? (T) ~((unsigned long long)1 << (sizeof(T) * 8 - 1)) : (T)-1);
  }
  static SW_FN T low() { return (T)~high() < high() ? (T)~high() : (T)0; }
};
template <>
struct Limits<float> {
  static SW_FN float high() { return (float)(1e308 * 10); }
  static SW_FN float low() { return -high(); }
};
template <>
struct Limits<double> {
  static SW_FN double high() { return 1e308 * 10; }
  static SW_FN double low() { return -high(); }
};
template <class T>
struct Limits<Complex<T> > {
  static SW_FN Complex<T> high() {
    Complex<T> z = {Limits<T>::high(), Limits<T>::high()};
    return z;
  }
  static SW_FN Complex<T> low() {
    Complex<T> z = {Limits<T>::low(), Limits<T>::low()};
    return z;
  }
};

// NaN propagates, as in NumPy.
template <class A>
struct Minimum : OfValues<A> {
  static SW_FN A identity() { return Limits<A>::high(); }
  static SW_FN A combine(A a, A b) {
    return ((precedes(b, a) | is_nan(b)) & !is_complex_nan(a)) ? b : a;
  }
};
template <class A>
struct Maximum : OfValues<A> {
  static SW_FN A identity() { return Limits<A>::low(); }
  static SW_FN A combine(A a, A b) {
    return ((precedes(a, b) | is_nan(b)) & !is_complex_nan(a)) ? b : a;
  }
};

struct Any : OfNonzeros<unsigned char> {
  static SW_FN Acc identity() { return 0; }
  static SW_FN Acc combine(Acc a, Acc b) { return a | b; }
};
struct All : OfNonzeros<unsigned char> {
  static SW_FN Acc identity() { return 1; }
  static SW_FN Acc combine(Acc a, Acc b) { return a & b; }
};
struct Count : OfNonzeros<unsigned long long> {
  static SW_FN Acc identity() { return 0; }
  static SW_FN Acc combine(Acc a, Acc b) { return a + b; }
};

// A value and its index; index -1 means that there is no value yet.
template <class V>
struct IndexedValue {
  V value;
  long long index;
};
// The first index of the extreme that Value looks for.
template <class Value>
struct IndexOf {
  typedef Value Of;
  typedef IndexedValue<typename Value::Acc> Acc;
  typedef NoParam Param;
  static SW_FN Acc identity() {
    Acc none = {Value::identity(), -1};
    return none;
  }
  template <class T>
  static SW_FN Acc transform(T x, Param p, long long index) {
    Acc a = {Value::transform(x, p), index};
    return a;
  }
  static SW_FN Acc combine(Acc a, Acc b) {
    if (a.index < 0 || b.index < 0) return a.index < 0 ? b : a;
    const bool a_is_nan = is_nan(a.value), b_is_nan = is_nan(b.value);
    if (a_is_nan || b_is_nan) {
      if (a_is_nan && b_is_nan) return a.index < b.index ? a : b;
      return a_is_nan ? a : b;
    }
    const bool are_equal = !precedes(a.value, b.value) && !precedes(b.value, a.value);
    if (are_equal) return a.index < b.index ? a : b;
    return is_better(a.value, b.value) ? a : b;
  }
  // Whether b, which follows a, replaces a as the extreme.
  static SW_FN bool replaces(typename Value::Acc a, typename Value::Acc b) {
    return !is_nan(a) & (is_nan(b) | is_better(b, a));
  }
  static SW_FN bool is_better(typename Value::Acc a, typename Value::Acc b) {
    return precedes(Value::identity(), Limits<typename Value::Acc>::high()) ? precedes(b, a)
                                                                            : precedes(a, b);
  }
};
