# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Complex numbers for kernels that include PyCUDA's headers: pycuda::complex<float> and <double>."""

import re

_TYPE = r"""#define SW_COMPLEX_FN friend __host__ __device__ inline
namespace pycuda {
template <class T> struct complex {
  T re, im;
  __host__ __device__ complex(T re = T(), T im = T()) : re(re), im(im) {}
  template <class U>
  __host__ __device__ complex(const complex<U> &z) : re(T(z.re)), im(T(z.im)) {}
  __host__ __device__ T real() const { return re; }
  __host__ __device__ T imag() const { return im; }
  __host__ __device__ complex &operator+=(complex z) { re += z.re; im += z.im; return *this; }
  __host__ __device__ complex &operator-=(complex z) { re -= z.re; im -= z.im; return *this; }
  __host__ __device__ complex &operator*=(complex z) {
    const T r = re * z.re - im * z.im;
    im = re * z.im + im * z.re;
    re = r;
    return *this;
  }
  __host__ __device__ complex &operator/=(complex z) {
    const T n = z.re * z.re + z.im * z.im, r = (re * z.re + im * z.im) / n;
    im = (im * z.re - re * z.im) / n;
    re = r;
    return *this;
  }
  __host__ __device__ complex operator-() const { return complex(-re, -im); }
  __host__ __device__ complex operator+() const { return *this; }
"""

_FUNCTIONS = r"""
  SW_COMPLEX_FN complex operator+(complex a, complex b) { return a += b; }
  SW_COMPLEX_FN complex operator-(complex a, complex b) { return a -= b; }
  SW_COMPLEX_FN complex operator*(complex a, complex b) { return a *= b; }
  SW_COMPLEX_FN complex operator/(complex a, complex b) { return a /= b; }
  SW_COMPLEX_FN bool operator==(complex a, complex b) { return a.re == b.re && a.im == b.im; }
  SW_COMPLEX_FN bool operator!=(complex a, complex b) { return !(a == b); }
  SW_COMPLEX_FN T real(complex z) { return z.re; }
  SW_COMPLEX_FN T imag(complex z) { return z.im; }
  SW_COMPLEX_FN T norm(complex z) { return z.re * z.re + z.im * z.im; }
  SW_COMPLEX_FN T abs(complex z) { return hypot(z.re, z.im); }
  SW_COMPLEX_FN T arg(complex z) { return atan2(z.im, z.re); }
  SW_COMPLEX_FN complex conj(complex z) { return complex(z.re, -z.im); }
  SW_COMPLEX_FN complex exp(complex z) {
    const T e = ::exp(z.re);
    return complex(e * ::cos(z.im), e * ::sin(z.im));
  }
  SW_COMPLEX_FN complex log(complex z) { return complex(::log(abs(z)), arg(z)); }
  SW_COMPLEX_FN complex log10(complex z) { return log(z) / complex(T(2.302585092994046)); }
  SW_COMPLEX_FN complex sqrt(complex z) {
    const T r = abs(z), s = ::sqrt((r + ::fabs(z.re)) / 2);
    if (s == 0) return complex();
    if (z.re >= 0) return complex(s, z.im / (2 * s));
    return complex(::fabs(z.im) / (2 * s), z.im < 0 ? -s : s);
  }
  SW_COMPLEX_FN complex sin(complex z) {
    return complex(::sin(z.re) * ::cosh(z.im), ::cos(z.re) * ::sinh(z.im));
  }
  SW_COMPLEX_FN complex cos(complex z) {
    return complex(::cos(z.re) * ::cosh(z.im), -::sin(z.re) * ::sinh(z.im));
  }
  SW_COMPLEX_FN complex tan(complex z) { return sin(z) / cos(z); }
  SW_COMPLEX_FN complex sinh(complex z) {
    return complex(::sinh(z.re) * ::cos(z.im), ::cosh(z.re) * ::sin(z.im));
  }
  SW_COMPLEX_FN complex cosh(complex z) {
    return complex(::cosh(z.re) * ::cos(z.im), ::sinh(z.re) * ::sin(z.im));
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
};
template <class T> __host__ __device__ inline complex<T> polar(T r, T phase) {
  return complex<T>(r * ::cos(phase), r * ::sin(phase));
}
}
"""

_HEADER = re.compile(
    r'^[ \t]*#[ \t]*include[ \t]*[<"]pycuda-(complex|helpers)\.hpp[>"][^\n]*$', re.MULTILINE
)


def without_headers(source):
    """`source` without the lines that include PyCUDA's headers."""
    return _HEADER.sub("", source)


def with_headers(source):
    """`source` with complex numbers in place of the first include of PyCUDA's headers."""
    return without_headers(_HEADER.sub(lambda _: _TYPE + _FUNCTIONS, source, count=1))
