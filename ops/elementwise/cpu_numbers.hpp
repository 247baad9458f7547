// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>

#include "spanwise/half.hpp"

/// The arithmetic of one pair of elements on the host, as NumPy defines it.
namespace spanwise::ops {

template <class T>
struct Complex {
  T re, im;
};

/// A bool as another library may have left it: any byte but 0 is true.
struct Bool {
  std::uint8_t byte;
  explicit Bool(bool value) : byte(value) {}
  explicit operator bool() const { return byte != 0; }
};

/// T in which an element of type T is computed: halves in float, integers without a sign so that
/// they wrap, bytes and shorts in 32 bits.
template <class T>
struct Computed {
  using type = T;
};
template <std::integral T>
struct Computed<T> {
  using type = std::conditional_t<(sizeof(T) > 4), std::uint64_t, std::uint32_t>;
};
template <>
struct Computed<Bool> {
  using type = bool;
};
template <>
struct Computed<Half> {
  using type = float;
};
template <>
struct Computed<BFloat16> {
  using type = float;
};

struct Add {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a + b);
  }
  static bool apply(bool a, bool b) { return a || b; }
  template <class T>
  static Complex<T> apply(Complex<T> a, Complex<T> b) {
    return {a.re + b.re, a.im + b.im};
  }
};

struct Subtract {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a - b);
  }
  template <class T>
  static Complex<T> apply(Complex<T> a, Complex<T> b) {
    return {a.re - b.re, a.im - b.im};
  }
};

struct Multiply {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a * b);
  }
  static bool apply(bool a, bool b) { return a && b; }
  template <class T>
  static Complex<T> apply(Complex<T> a, Complex<T> b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
};

struct Divide {
  template <class T>
  static T apply(T a, T b) {
    return a / b;
  }
  // Scaled by the larger part, so that the squares do not overflow (R. L. Smith, Algorithm 116,
  // CACM 5, 1962; numpy/_core/src/umath/loops.c.src does the same).
  template <class T>
  static Complex<T> apply(Complex<T> a, Complex<T> b) {
    const T re = std::abs(b.re), im = std::abs(b.im);
    if (re >= im) {
      if (re == 0 && im == 0) return {a.re / re, a.im / re};
      const T ratio = b.im / b.re, scale = T{1} / (b.re + b.im * ratio);
      return {(a.re + a.im * ratio) * scale, (a.im - a.re * ratio) * scale};
    }
    const T ratio = b.re / b.im, scale = T{1} / (b.im + b.re * ratio);
    return {(a.re * ratio + a.im) * scale, (a.im * ratio - a.re) * scale};
  }
};

struct Negative {
  template <class T>
  static T apply(T a) {
    return static_cast<T>(-a);
  }
  template <class T>
  static Complex<T> apply(Complex<T> a) {
    return {-a.re, -a.im};
  }
};

}  // namespace spanwise::ops
