// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>

namespace spanwise::ops::linalg {

/// How elements of a type are read, accumulated and stored. Integers wrap around, so signedness
/// does not matter.
template <class T>
struct IntegerElement {
  using Element = T;
  using Number = T;
  typedef T Vector __attribute__((vector_size(32)));
  static constexpr std::int64_t lanes = 32 / sizeof(T);
  static Number read(const Element& element, bool) { return element; }
  static void write(Element& element, Number number) { element = number; }
  /// Whether a sum can be final before all products are added, and whether any of eight partial
  /// sums of one element is.
  static constexpr bool stops_early = false;
  static bool is_decided(const Number*) { return false; }
  static void join(Number& sum, Number other) { sum = static_cast<Number>(sum + other); }
  /// `factor` is a whole number.
  static Number scaled(Number number, double factor) {
    return static_cast<Number>(std::uint64_t{number} *
                               static_cast<std::uint64_t>(static_cast<std::int64_t>(factor)));
  }
  static void add_product(Vector& sum, Number a, const Vector& b) { sum += b * a; }
  static void add_product(Number& sum, Number a, Number b) {
    sum = static_cast<Number>(sum + static_cast<Number>(std::uint64_t{a} * b));
  }
};
template <class T>
struct FloatElement : IntegerElement<T> {
  static T scaled(T number, double factor) { return number * static_cast<T>(factor); }
  static void add_product(typename IntegerElement<T>::Vector& sum, T a,
                          const typename IntegerElement<T>::Vector& b) {
    sum += b * a;
  }
  static void add_product(T& sum, T a, T b) { sum += a * b; }
};
/// bool: any byte other than 0 is true, since other libraries may store other values than 1.
struct BoolElement : IntegerElement<std::uint8_t> {
  static Number read(const Element& element, bool) { return element != 0; }
  static constexpr bool stops_early = true;
  static bool is_decided(const Number* sums) {
    std::uint64_t all;
    std::memcpy(&all, sums, sizeof all);
    return all != 0;
  }
  static void join(Number& sum, Number other) { sum = static_cast<Number>(sum | other); }
  static Number scaled(Number number, double factor) { return factor != 0 ? number : Number{0}; }
  static void add_product(Vector& sum, Number a, const Vector& b) {
    sum |= b & static_cast<Number>(-a);
  }
  static void add_product(Number& sum, Number a, Number b) {
    sum = static_cast<Number>(sum | (a & b));
  }
};
/// Complex product without std::complex, whose multiplication checks for infinities when the result
/// is NaN.
template <class T>
struct ComplexValue {
  T re, im;
};
template <class T>
struct ComplexElement {
  using Element = ComplexValue<T>;
  using Number = ComplexValue<T>;
  using Vector = ComplexValue<T>;
  static constexpr std::int64_t lanes = 1;
  static Number read(const Element& element, bool conjugates) {
    return {element.re, conjugates ? -element.im : element.im};
  }
  static void write(Element& element, Number number) { element = number; }
  static constexpr bool stops_early = false;
  static bool is_decided(const Number*) { return false; }
  static void join(Number& sum, Number other) {
    sum.re += other.re;
    sum.im += other.im;
  }
  static Number scaled(Number number, double factor) {
    return {number.re * static_cast<T>(factor), number.im * static_cast<T>(factor)};
  }
  static void add_product(Number& sum, Number a, Number b) {
    sum.re += a.re * b.re - a.im * b.im;
    sum.im += a.re * b.im + a.im * b.re;
  }
};

/// Stores alpha * sum + beta * addend; without an addend, alpha * sum.
template <class E>
struct Scales {
  double alpha = 1, beta = 0;

  void write(typename E::Element& to, typename E::Number sum,
             const typename E::Element* addend) const {
    if (alpha != 1) sum = E::scaled(sum, alpha);
    if (addend != nullptr)
      E::join(sum, beta == 1 ? E::read(*addend, false) : E::scaled(E::read(*addend, false), beta));
    E::write(to, sum);
  }
};

}  // namespace spanwise::ops::linalg
