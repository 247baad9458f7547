// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/core/half.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "core/element_conversion.hpp"

namespace spanwise {
namespace {

// The value of a 16-bit float with `digits` bits of mantissa, from the definition (IEEE 754, 3.4).
double value_of(std::uint16_t bits, int digits) {
  const int exponent_bits = 15 - digits;
  const int exponent = bits >> digits & ((1 << exponent_bits) - 1);
  const int fraction = bits & ((1 << digits) - 1);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1)
    return fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                         : sign * std::numeric_limits<double>::infinity();
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - digits);
  return sign * std::ldexp((1 << digits) + fraction, exponent - bias - digits);
}

// The nearest 16-bit float by search: all finite values in order, ties to the even one, and beyond
// the midpoint between the largest value and infinity.
std::uint16_t nearest(double value, int digits) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  const double magnitude = std::fabs(value);
  const auto infinity = static_cast<std::uint16_t>(((1 << (15 - digits)) - 1) << digits);
  int low = 0, high = infinity;  // value_of(low) <= magnitude < value_of(high)
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (value_of(static_cast<std::uint16_t>(middle), digits) <= magnitude ? low : high) = middle;
  }
  const double below = value_of(static_cast<std::uint16_t>(low), digits);
  const double above = high == infinity
                           ? 2 * below - value_of(static_cast<std::uint16_t>(low - 1), digits)
                           : value_of(static_cast<std::uint16_t>(high), digits);
  const double to_low = magnitude - below, to_high = above - magnitude;
  const bool up = to_high < to_low || (to_high == to_low && low % 2 == 1);
  return static_cast<std::uint16_t>(sign | (up ? high : low));
}

// Values near every border: exact ones, midpoints, and their neighbours on both sides.
std::vector<double> hard_values(int digits) {
  std::vector<double> values{0.0,   -0.0,  1e-300,    1e300, 1e-45,
                             -1e39, 65504, 65519.999, 65520, 3.4e38};
  std::mt19937_64 random(1);
  const int infinity = ((1 << (15 - digits)) - 1) << digits;
  for (int i = 0; i < 20000; ++i) {
    const auto bits = static_cast<std::uint16_t>(random() % static_cast<unsigned>(infinity - 1));
    const double a = value_of(bits, digits),
                 b = value_of(static_cast<std::uint16_t>(bits + 1), digits);
    const double middle = std::isinf(b) ? a : (a + b) / 2;
    const double sign = random() % 2 == 0 ? 1 : -1;
    for (const double value : {a, middle, std::nextafter(middle, a), std::nextafter(middle, 2 * b)})
      values.push_back(sign * value);
  }
  return values;
}

template <class T>
constexpr int digits_of = std::is_same_v<T, Half> ? 10 : 7;

template <class T>
class SixteenBitFloat : public ::testing::Test {};
using Types = ::testing::Types<Half, BFloat16>;
TYPED_TEST_SUITE(SixteenBitFloat, Types);

TYPED_TEST(SixteenBitFloat, EveryPatternHasItsValue) {
  for (int bits = 0; bits < 65536; ++bits) {
    TypeParam x;
    x.bits = static_cast<std::uint16_t>(bits);
    const double expected = value_of(x.bits, digits_of<TypeParam>);
    if (std::isnan(expected))
      ASSERT_TRUE(std::isnan(static_cast<float>(x))) << bits;
    else
      ASSERT_EQ(static_cast<float>(x), expected) << bits;
  }
}

TYPED_TEST(SixteenBitFloat, EveryPatternSurvivesTheRoundTrip) {
  for (int bits = 0; bits < 65536; ++bits) {
    TypeParam x;
    x.bits = static_cast<std::uint16_t>(bits);
    const TypeParam back(static_cast<float>(x));
    if (std::isnan(static_cast<float>(x)))
      ASSERT_TRUE(std::isnan(static_cast<float>(back))) << bits;
    else
      ASSERT_EQ(back.bits, x.bits);
  }
}

TYPED_TEST(SixteenBitFloat, FloatsRoundToNearestEven) {
  for (const double value : hard_values(digits_of<TypeParam>)) {
    const auto single = static_cast<float>(value);
    if (std::isinf(single)) continue;
    ASSERT_EQ(TypeParam(single).bits, nearest(static_cast<double>(single), digits_of<TypeParam>))
        << single;
  }
}

TYPED_TEST(SixteenBitFloat, DoublesRoundOnce) {
  for (const double value : hard_values(digits_of<TypeParam>))
    ASSERT_EQ(core::convert<TypeParam>(value).bits, nearest(value, digits_of<TypeParam>)) << value;
}

TYPED_TEST(SixteenBitFloat, InfinityAndNanStay) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(static_cast<float>(TypeParam(infinity)), infinity);
  EXPECT_EQ(static_cast<float>(TypeParam(-infinity)), -infinity);
  // A NaN with its payload in the truncated bits must not become infinity.
  EXPECT_TRUE(std::isnan(static_cast<float>(TypeParam(std::bit_cast<float>(0x7f800001U)))));
  EXPECT_TRUE(std::isnan(
      static_cast<float>(core::convert<TypeParam>(std::numeric_limits<double>::quiet_NaN()))));
}

}  // namespace
}  // namespace spanwise
