// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// complex<T> for kernels written for CuPy, whose header has it in thrust and, by its name alone, in
// the global namespace.

#include "spanwise_math.h"

#ifdef SW_CCCL
#include <thrust/complex.h>
#else
namespace thrust {

template <class T>
struct __attribute__((aligned(2 * sizeof(T)))) complex {
  typedef T value_type;
  constexpr complex(T re = T(), T im = T()) : re_(re), im_(im) {}
  template <class U>
  constexpr complex(const complex<U>& z) : re_((T)z.real()), im_((T)z.imag()) {}
  constexpr T real() const { return re_; }
  constexpr T imag() const { return im_; }
  void real(T re) { re_ = re; }
  void imag(T im) { im_ = im; }
  complex& operator+=(complex b) { return *this = *this + b; }
  complex& operator-=(complex b) { return *this = *this - b; }
  complex& operator*=(complex b) { return *this = *this * b; }
  complex& operator/=(complex b) { return *this = *this / b; }

  // Friends, so that numbers are converted.
  friend complex operator+(complex z) { return z; }
  friend complex operator-(complex z) { return {-z.re_, -z.im_}; }
  friend complex operator+(complex a, complex b) { return {a.re_ + b.re_, a.im_ + b.im_}; }
  friend complex operator-(complex a, complex b) { return {a.re_ - b.re_, a.im_ - b.im_}; }
  friend complex operator*(complex a, complex b) {
    return {a.re_ * b.re_ - a.im_ * b.im_, a.re_ * b.im_ + a.im_ * b.re_};
  }
  // Scaled by the larger part of b (Smith 1962).
  friend complex operator/(complex a, complex b) {
    const bool is_real_larger = ::abs(b.re_) >= ::abs(b.im_);
    const T large = is_real_larger ? b.re_ : b.im_, small = is_real_larger ? b.im_ : b.re_;
    const T ratio = small / large, scale = large + small * ratio;
    if (is_real_larger) return {(a.re_ + a.im_ * ratio) / scale, (a.im_ - a.re_ * ratio) / scale};
    return {(a.re_ * ratio + a.im_) / scale, (a.im_ * ratio - a.re_) / scale};
  }
  friend bool operator==(complex a, complex b) { return a.re_ == b.re_ && a.im_ == b.im_; }
  friend bool operator!=(complex a, complex b) { return !(a == b); }

 private:
  T re_, im_;
};

#define SW_OF_COMPLEX \
  template <class T>  \
  SW_FN
SW_OF_COMPLEX T real(complex<T> z) { return z.real(); }
SW_OF_COMPLEX T imag(complex<T> z) { return z.imag(); }
SW_OF_COMPLEX T abs(complex<T> z) { return ::hypot(z.real(), z.imag()); }
SW_OF_COMPLEX T arg(complex<T> z) { return ::atan2(z.imag(), z.real()); }
SW_OF_COMPLEX T norm(complex<T> z) { return z.real() * z.real() + z.imag() * z.imag(); }
SW_OF_COMPLEX complex<T> conj(complex<T> z) { return {z.real(), -z.imag()}; }
SW_OF_COMPLEX complex<T> polar(T size, T angle = T()) {
  return {size * ::cos(angle), size * ::sin(angle)};
}
SW_OF_COMPLEX complex<T> exp(complex<T> z) { return polar(::exp(z.real()), z.imag()); }
SW_OF_COMPLEX complex<T> log(complex<T> z) { return {::log(abs(z)), arg(z)}; }
SW_OF_COMPLEX complex<T> log10(complex<T> z) { return log(z) / T(2.30258509299404568402); }
// From the part that does not cancel.
SW_OF_COMPLEX complex<T> sqrt(complex<T> z) {
  const T size = ::sqrt((::abs(z.real()) + abs(z)) / 2);
  if (size == 0) return {T(), z.imag()};
  const T other = z.imag() / (2 * size);
  return z.real() >= 0 ? complex<T>(size, other)
                       : complex<T>(::abs(other), ::copysign(size, z.imag()));
}
SW_OF_COMPLEX complex<T> pow(complex<T> z, complex<T> w) {
  return z == complex<T>() ? complex<T>() : exp(w * log(z));
}
SW_OF_COMPLEX complex<T> pow(complex<T> z, T w) { return pow(z, complex<T>(w)); }
SW_OF_COMPLEX complex<T> pow(T z, complex<T> w) { return pow(complex<T>(z), w); }
SW_OF_COMPLEX complex<T> sinh(complex<T> z) {
  return {::sinh(z.real()) * ::cos(z.imag()), ::cosh(z.real()) * ::sin(z.imag())};
}
SW_OF_COMPLEX complex<T> cosh(complex<T> z) {
  return {::cosh(z.real()) * ::cos(z.imag()), ::sinh(z.real()) * ::sin(z.imag())};
}
SW_OF_COMPLEX complex<T> tanh(complex<T> z) { return sinh(z) / cosh(z); }
SW_OF_COMPLEX complex<T> sin(complex<T> z) {
  return {::sin(z.real()) * ::cosh(z.imag()), ::cos(z.real()) * ::sinh(z.imag())};
}
SW_OF_COMPLEX complex<T> cos(complex<T> z) {
  return {::cos(z.real()) * ::cosh(z.imag()), -::sin(z.real()) * ::sinh(z.imag())};
}
SW_OF_COMPLEX complex<T> tan(complex<T> z) { return sin(z) / cos(z); }
#undef SW_OF_COMPLEX

}  // namespace thrust
#endif

using thrust::abs;
using thrust::arg;
using thrust::complex;
using thrust::conj;
using thrust::cos;
using thrust::cosh;
using thrust::exp;
using thrust::imag;
using thrust::log;
using thrust::log10;
using thrust::norm;
using thrust::polar;
using thrust::pow;
using thrust::real;
using thrust::sin;
using thrust::sinh;
using thrust::sqrt;
using thrust::tan;
using thrust::tanh;
