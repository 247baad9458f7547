// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// <spanwise/half_bits.cuh> as the host's compiler has it, against the host's own 16-bit floats.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include "spanwise/half.hpp"

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
    const float half = bits::half_to_float(word), brain = bits::bfloat16_to_float(word);
    ASSERT_TRUE(same(half, static_cast<float>(std::bit_cast<Half>(word)))) << pattern;
    ASSERT_TRUE(same(brain, static_cast<float>(std::bit_cast<BFloat16>(word)))) << pattern;
    ASSERT_TRUE(std::isnan(half) || bits::half_bits(half) == word) << pattern;
    ASSERT_TRUE(std::isnan(brain) || bits::bfloat16_bits(brain) == word) << pattern;
  }
}

// The nearest of the numbers with `digits` binary digits after the first, of two as near the even
// one. `least` is the exponent of the least normal number.
template <class T>
void expect_nearest(T x, float got, int digits, int least) {
  const long double unit = std::ldexp(1.0L, std::max(std::ilogb(x), least) - digits);
  const long double error = std::abs(static_cast<long double>(x) - got);
  EXPECT_LE(error, unit / 2) << x;
  EXPECT_TRUE(error < unit / 2 || std::fmod(got / unit, 2.0L) == 0) << x;
}

template <class T>
void expect_rounded(T x) {
  const float half = bits::half_to_float(bits::half_bits(x)),
              brain = bits::bfloat16_to_float(bits::bfloat16_bits(x));
  EXPECT_EQ(std::isnan(half), std::isnan(x));
  EXPECT_EQ(std::isnan(brain), std::isnan(x));
  EXPECT_EQ(std::isinf(half), std::abs(x) >= 65520) << x;
  if (std::isfinite(half)) expect_nearest(x, half, 10, -14);
  if (std::isfinite(brain)) expect_nearest(x, brain, 7, -126);
}

TEST(HalfBits, RoundsToTheNearestAndTiesToEven) {
  const double ties[] = {0.0,
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
  for (const double x : ties) expect_rounded(x), expect_rounded(static_cast<float>(x));
  std::mt19937_64 random(5);
  for (int i = 0; i < 20000; ++i) {
    const double size = std::ldexp(1.0, static_cast<int>(random() % 50) - 30);
    const double x = (static_cast<double>(random()) / 1.8e19 - 0.5) * size;
    expect_rounded(x), expect_rounded(static_cast<float>(x));
  }
  // Between a tie and the next double: rounding to a float first would make a tie of it.
  EXPECT_EQ(bits::half_bits(1.00048828125 + 1e-12), 0x3c01);
  EXPECT_EQ(bits::bfloat16_bits(1.00390625 + 1e-12), 0x3f81);
}

}  // namespace
}  // namespace spanwise::kernels
