// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// The complex functions of the GPU, compiled for the host, against the C library's: in particular
// where parts are infinite, NaN or zeros of either sign.
#include <gtest/gtest.h>
#include <math.h>

#include <cmath>
#include <complex>
#include <limits>
#include <random>
#include <vector>

namespace spanwise::ops {
namespace {

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#endif
namespace gpu {
#define SW_FN inline
#include "../../sdk/device/elements.cuh"
// Each header uses those before it; comments keep the formatter from sorting them.
#include "../../ops/elementwise/element_operations.cuh"
// Uses element_operations.cuh.
#include "../../ops/elementwise/complex_functions.cuh"
#undef SW_FN
}  // namespace gpu
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

template <class T>
std::vector<std::complex<T>> samples() {
  const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  const T most = std::numeric_limits<T>::max(), least = std::numeric_limits<T>::denorm_min();
  const T parts[] = {T(0),     least, 100 * least, T(0.25), T(1), T(1.5), T(3), std::sqrt(most),
                     most / 3, most,  T(100),      inf,     nan};
  std::vector<T> both;
  for (const T part : parts) both.insert(both.end(), {part, -part});
  std::vector<std::complex<T>> all;
  for (const T re : both)
    for (const T im : both) all.emplace_back(re, im);
  std::mt19937 random(1);
  std::uniform_real_distribution<T> near(-3, 3);
  for (int i = 0; i < 500; ++i) all.emplace_back(near(random), near(random));
  return all;
}

template <class T>
bool is_close(T ours, T expected, T magnitude) {
  if (std::isnan(expected)) return std::isnan(ours);
  if (std::isinf(expected)) return ours == expected;
  const T tolerance =
      64 * std::numeric_limits<T>::epsilon() * magnitude + 4 * std::numeric_limits<T>::min();
  return std::abs(ours - expected) <= tolerance;
}

template <class T>
std::complex<T> wide_log1p(std::complex<T> x) {
  const std::complex<long double> wide(x.real(), x.imag());
  const std::complex<long double> z = std::log(1.0L + wide);
  return {static_cast<T>(z.real()), static_cast<T>(z.imag())};
}

// Where either part of `expected` is NaN, a NaN in either part is accepted: annex G of C leaves
// most of the other parts, and some signs of infinity, unspecified.
template <class T>
void expect_close(const char* name, std::complex<T> x, gpu::Complex<T> ours,
                  std::complex<T> expected) {
  const bool has_nan = std::isnan(expected.real()) || std::isnan(expected.imag());
  if (has_nan) {
    EXPECT_TRUE(std::isnan(ours.re) || std::isnan(ours.im))
        << name << x << " = " << ours.re << ", " << ours.im << "; expected " << expected;
    return;
  }
  const T magnitude = std::abs(expected);
  EXPECT_TRUE(is_close(ours.re, expected.real(), magnitude) &&
              is_close(ours.im, expected.imag(), magnitude))
      << name << x << " = " << ours.re << ", " << ours.im << "; expected " << expected;
}

template <class T>
class ComplexFunctions : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(ComplexFunctions, Floats);

TYPED_TEST(ComplexFunctions, MatchTheCLibrary) {
  using T = TypeParam;
  using C = std::complex<T>;
  for (const C x : samples<T>()) {
    const gpu::Complex<T> z{x.real(), x.imag()};
    expect_close<T>("exp", x, gpu::c_exp(z), std::exp(x));
    expect_close<T>("log", x, gpu::c_log(z), std::log(x));
    expect_close<T>("log1p", x, gpu::c_log1p(z), wide_log1p(x));
    expect_close<T>("sqrt", x, gpu::c_sqrt(z), std::sqrt(x));
    expect_close<T>("sin", x, gpu::c_sin(z), std::sin(x));
    expect_close<T>("cos", x, gpu::c_cos(z), std::cos(x));
    expect_close<T>("tan", x, gpu::c_tan(z), std::tan(x));
    expect_close<T>("sinh", x, gpu::c_sinh(z), std::sinh(x));
    expect_close<T>("cosh", x, gpu::c_cosh(z), std::cosh(x));
    expect_close<T>("tanh", x, gpu::c_tanh(z), std::tanh(x));
    expect_close<T>("asin", x, gpu::c_asin(z), std::asin(x));
    expect_close<T>("acos", x, gpu::c_acos(z), std::acos(x));
    expect_close<T>("atan", x, gpu::c_atan(z), std::atan(x));
    expect_close<T>("asinh", x, gpu::c_asinh(z), std::asinh(x));
    expect_close<T>("acosh", x, gpu::c_acosh(z), std::acosh(x));
    expect_close<T>("atanh", x, gpu::c_atanh(z), std::atanh(x));
  }
}

TYPED_TEST(ComplexFunctions, PowersMatchTheCLibrary) {
  using T = TypeParam;
  using C = std::complex<T>;
  const T inf = std::numeric_limits<T>::infinity();
  for (const C x : {C(2, 1), C(-3, T(0.5)), C(inf, 0), C(-inf, 2), C(1, inf)})
    for (const C y : {C(T(0.5), 1), C(-2, T(0.25)), C(3, -1)})
      expect_close<T>("pow", x, gpu::c_pow<T>({x.real(), x.imag()}, {y.real(), y.imag()}),
                      std::pow(x, y));
}

}  // namespace
}  // namespace spanwise::ops
