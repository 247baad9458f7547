// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// For CUDA C kernels: #include <spanwise/complex.cuh>. complex<T> has NumPy's memory layout.
// Division scales like C99's, so that intermediate results neither overflow nor underflow (R. L.
// Smith, "Algorithm 116", 1962). pycuda::complex<T> is PyCUDA's name of the type.

#define SW_COMPLEX_FN friend __host__ __device__ inline
namespace spanwise {
template <class T>
struct complex {
  T re, im;

  __host__ __device__ complex(T real_part = T(), T imaginary_part = T())
      : re(real_part), im(imaginary_part) {}
  template <class U>
  __host__ __device__ complex(const complex<U>& z) : re(T(z.re)), im(T(z.im)) {}
  __host__ __device__ T real() const { return re; }
  __host__ __device__ T imag() const { return im; }
  __host__ __device__ complex& operator+=(complex b) { return *this = *this + b; }
  __host__ __device__ complex& operator-=(complex b) { return *this = *this - b; }
  __host__ __device__ complex& operator*=(complex b) { return *this = *this * b; }
  __host__ __device__ complex& operator/=(complex b) { return *this = *this / b; }

  // Friends, so that a number as the other operand is converted.
  SW_COMPLEX_FN complex operator+(complex a, complex b) { return {a.re + b.re, a.im + b.im}; }
  SW_COMPLEX_FN complex operator-(complex a, complex b) { return {a.re - b.re, a.im - b.im}; }
  SW_COMPLEX_FN complex operator*(complex a, complex b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  SW_COMPLEX_FN complex operator/(complex a, complex b) {
    if (::fabs(b.re) >= ::fabs(b.im)) {
      const T ratio = b.im / b.re, scale = b.re + b.im * ratio;
      return {(a.re + a.im * ratio) / scale, (a.im - a.re * ratio) / scale};
    }
    const T ratio = b.re / b.im, scale = b.re * ratio + b.im;
    return {(a.re * ratio + a.im) / scale, (a.im * ratio - a.re) / scale};
  }
  SW_COMPLEX_FN complex operator-(complex z) { return {-z.re, -z.im}; }
  SW_COMPLEX_FN complex operator+(complex z) { return z; }
  SW_COMPLEX_FN bool operator==(complex a, complex b) { return a.re == b.re && a.im == b.im; }
  SW_COMPLEX_FN bool operator!=(complex a, complex b) { return !(a == b); }

  SW_COMPLEX_FN T real(complex z) { return z.re; }
  SW_COMPLEX_FN T imag(complex z) { return z.im; }
  SW_COMPLEX_FN T norm(complex z) { return z.re * z.re + z.im * z.im; }
  SW_COMPLEX_FN T abs(complex z) { return ::hypot(z.re, z.im); }
  SW_COMPLEX_FN T arg(complex z) { return ::atan2(z.im, z.re); }
  SW_COMPLEX_FN complex conj(complex z) { return {z.re, -z.im}; }
  SW_COMPLEX_FN complex exp(complex z) {
    const T magnitude = ::exp(z.re);
    return {magnitude * ::cos(z.im), magnitude * ::sin(z.im)};
  }
  SW_COMPLEX_FN complex log(complex z) { return {::log(abs(z)), arg(z)}; }
  SW_COMPLEX_FN complex log10(complex z) { return log(z) / complex(T(2.302585092994046)); }
  SW_COMPLEX_FN complex sqrt(complex z) {
    const T r = abs(z), s = ::sqrt((r + ::fabs(z.re)) / 2);
    if (s == 0) return complex();
    if (z.re >= 0) return {s, z.im / (2 * s)};
    return {::fabs(z.im) / (2 * s), z.im < 0 ? -s : s};
  }
  SW_COMPLEX_FN complex sin(complex z) {
    return {::sin(z.re) * ::cosh(z.im), ::cos(z.re) * ::sinh(z.im)};
  }
  SW_COMPLEX_FN complex cos(complex z) {
    return {::cos(z.re) * ::cosh(z.im), -::sin(z.re) * ::sinh(z.im)};
  }
  SW_COMPLEX_FN complex tan(complex z) { return sin(z) / cos(z); }
  SW_COMPLEX_FN complex sinh(complex z) {
    return {::sinh(z.re) * ::cos(z.im), ::cosh(z.re) * ::sin(z.im)};
  }
  SW_COMPLEX_FN complex cosh(complex z) {
    return {::cosh(z.re) * ::cos(z.im), ::sinh(z.re) * ::sin(z.im)};
  }
  SW_COMPLEX_FN complex tanh(complex z) { return sinh(z) / cosh(z); }
  SW_COMPLEX_FN complex pow(complex z, int n) {
    complex power(1);
    for (unsigned k = n < 0 ? 0u - unsigned(n) : unsigned(n); k; k >>= 1) {
      if (k & 1) power *= z;
      z *= z;
    }
    return n < 0 ? complex(1) / power : power;
  }
  SW_COMPLEX_FN complex pow(complex z, complex w) {
    return z == complex() ? complex() : exp(w * log(z));
  }
  // Without it a real exponent would be rounded to int.
  SW_COMPLEX_FN complex pow(complex z, T x) { return pow(z, complex(x)); }
};

template <class T>
__host__ __device__ inline complex<T> polar(T r, T phase) {
  return {r * ::cos(phase), r * ::sin(phase)};
}
}  // namespace spanwise
#undef SW_COMPLEX_FN

namespace pycuda {
using spanwise::complex;
using spanwise::polar;
}  // namespace pycuda
