// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
// Complex numbers for kernels, with NumPy's memory layout. Division scales like C99's, so that
// intermediate results neither overflow nor underflow (R. L. Smith, "Algorithm 116", 1962).
template <class T>
struct complex {
  T re, im;

  complex() = default;
  __device__ complex(T real_part, T imaginary_part = T(0)) : re(real_part), im(imaginary_part) {}
  template <class U>
  __device__ explicit complex(const complex<U>& z) : re(T(z.re)), im(T(z.im)) {}
  __device__ T real() const { return re; }
  __device__ T imag() const { return im; }

  // Friends, so that the other operand is converted.
  friend __device__ complex operator+(complex a, complex b) { return {a.re + b.re, a.im + b.im}; }
  friend __device__ complex operator-(complex a, complex b) { return {a.re - b.re, a.im - b.im}; }
  friend __device__ complex operator*(complex a, complex b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  friend __device__ complex operator/(complex a, complex b) {
    if (fabs(b.re) >= fabs(b.im)) {
      const T ratio = b.im / b.re, scale = b.re + b.im * ratio;
      return {(a.re + a.im * ratio) / scale, (a.im - a.re * ratio) / scale};
    }
    const T ratio = b.re / b.im, scale = b.re * ratio + b.im;
    return {(a.re * ratio + a.im) / scale, (a.im * ratio - a.re) / scale};
  }
  friend __device__ complex operator-(complex a) { return {-a.re, -a.im}; }
  friend __device__ bool operator==(complex a, complex b) { return a.re == b.re && a.im == b.im; }
  friend __device__ bool operator!=(complex a, complex b) { return !(a == b); }
  __device__ complex& operator+=(complex b) { return *this = *this + b; }
  __device__ complex& operator-=(complex b) { return *this = *this - b; }
  __device__ complex& operator*=(complex b) { return *this = *this * b; }
  __device__ complex& operator/=(complex b) { return *this = *this / b; }

  friend __device__ T real(complex a) { return a.re; }
  friend __device__ T imag(complex a) { return a.im; }
  friend __device__ complex conj(complex a) { return {a.re, -a.im}; }
  friend __device__ T norm(complex a) { return a.re * a.re + a.im * a.im; }
  friend __device__ T abs(complex a) { return hypot(a.re, a.im); }
  friend __device__ T arg(complex a) { return atan2(a.im, a.re); }
  friend __device__ complex exp(complex a) {
    const T magnitude = exp(a.re);
    return {magnitude * cos(a.im), magnitude * sin(a.im)};
  }
};
namespace pycuda {
template <class T>
using complex = ::complex<T>;
}
