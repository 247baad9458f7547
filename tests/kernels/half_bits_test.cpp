// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Compares <spanwise/half_bits.cuh>, compiled for the host, with Half and BFloat16.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include "spanwise/core/half.hpp"

namespace spanwise::kernels {
namespace {

namespace device {
#define __device__
#include "../../sdk/device/half_bits.cuh"
#undef __device__
}  // namespace device
namespace bits = device::spanwise;

bool same(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b) ||
         (std::isnan(a) && std::isnan(b));
}

TEST(HalfBits, EveryPatternConvertsToItsNumberAndBack) {
  for (unsigned pattern = 0; pattern < 65536; ++pattern) {
    const auto word = static_cast<std::uint16_t>(pattern);
    const float half = bits::half_to_float(word), bfloat = bits::bfloat16_to_float(word);
    ASSERT_TRUE(same(half, static_cast<float>(std::bit_cast<Half>(word)))) << pattern;
    ASSERT_TRUE(same(bfloat, static_cast<float>(std::bit_cast<BFloat16>(word)))) << pattern;
    ASSERT_TRUE(std::isnan(half) || bits::half_bits(half) == word) << pattern;
    ASSERT_TRUE(std::isnan(bfloat) || bits::bfloat16_bits(bfloat) == word) << pattern;
  }
}

// Expects that `rounded` is the number nearest to x with `digits` binary digits after the first, of
// two that are equally near the even one. `min_exponent` is that of the smallest normal number.
template <class T>
void expect_nearest(T x, float rounded, int digits, int min_exponent) {
  const long double unit = std::ldexp(1.0L, std::max(std::ilogb(x), min_exponent) - digits);
  const long double error = std::abs(static_cast<long double>(x) - rounded);
  EXPECT_LE(error, unit / 2) << x;
  EXPECT_TRUE(error < unit / 2 || std::fmod(rounded / unit, 2.0L) == 0) << x;
}

template <class T>
void expect_rounded(T x) {
  const float half = bits::half_to_float(bits::half_bits(x)),
              bfloat = bits::bfloat16_to_float(bits::bfloat16_bits(x));
  EXPECT_EQ(std::isnan(half), std::isnan(x));
  EXPECT_EQ(std::isnan(bfloat), std::isnan(x));
  // float16's largest number is 65504; from 65520, the tie with 65536, values round to infinity.
  EXPECT_EQ(std::isinf(half), std::abs(x) >= 65520) << x;
  if (std::isfinite(half)) expect_nearest(x, half, 10, -14);
  if (std::isfinite(bfloat)) expect_nearest(x, bfloat, 7, -126);
}

TEST(HalfBits, RoundsToTheNearestAndTiesToEven) {
  const double special[] = {0.0,
                            1.00048828125,
                            1.00146484375,
                            65519.0,
                            65520.0,
                            6.0e-8,
                            2.9802322387695312e-8,
                            1e-9,
                            1.00390625,
                            1.01171875,
                            -2.5e-5,
                            -1.5,
                            1e300,
                            -1e300,
                            std::numeric_limits<double>::infinity(),
                            std::numeric_limits<double>::quiet_NaN()};
  for (const double x : special) expect_rounded(x), expect_rounded(static_cast<float>(x));
  std::mt19937_64 random(5);
  for (int i = 0; i < 20000; ++i) {
    const double scale = std::ldexp(1.0, static_cast<int>(random() % 50) - 30);
    const double x = (std::ldexp(static_cast<double>(random()), -64) - 0.5) * scale;
    expect_rounded(x), expect_rounded(static_cast<float>(x));
  }
  // Slightly above a tie: rounding to float32 first would give the tie.
  EXPECT_EQ(bits::half_bits(1.00048828125 + 1e-12), 0x3c01);
  EXPECT_EQ(bits::bfloat16_bits(1.00390625 + 1e-12), 0x3f81);
}

}  // namespace
}  // namespace spanwise::kernels
