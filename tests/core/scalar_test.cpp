// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/core/scalar.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <sstream>
#include <vector>

#include "spanwise/core/element_types.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

std::string printed(const Scalar& scalar) {
  std::ostringstream out;
  out << scalar;
  return out.str();
}

TEST(Scalar, HasTheDtypeOfItsCppType) {
  EXPECT_EQ(Scalar(true).dtype(), bool_);
  EXPECT_EQ(Scalar(1).dtype(), int32);
  EXPECT_EQ(Scalar(std::int64_t{1}).dtype(), int64);
  EXPECT_EQ(Scalar(1LL).dtype(), int64);
  EXPECT_EQ(Scalar(1ULL).dtype(), uint64);
  EXPECT_EQ(Scalar(1U).dtype(), uint32);
  EXPECT_EQ(Scalar(std::int8_t{1}).dtype(), int8);
  EXPECT_EQ(Scalar(std::uint16_t{1}).dtype(), uint16);
  EXPECT_EQ(Scalar(1.0f).dtype(), float32);
  EXPECT_EQ(Scalar(1.0).dtype(), float64);
  EXPECT_EQ(Scalar(std::complex<float>(1)).dtype(), complex64);
  EXPECT_EQ(Scalar(std::complex<double>(1)).dtype(), complex128);
}

TEST(Scalar, KeepsItsBytes) {
  const std::int16_t value = -2;
  const Scalar scalar(int16, &value);
  EXPECT_EQ(core::load<std::int16_t>(scalar.data()), -2);
  EXPECT_EQ(scalar.as_int64(), -2);
  EXPECT_EQ(scalar.as_double(), -2.0);
}

TEST(Scalar, AcceptsAtMostSixteenBytes) {
  const std::byte bytes[32]{};
  EXPECT_NO_THROW(Scalar(DType::parse("float32x4"), bytes));
  EXPECT_THROW(Scalar(DType::parse("float64x4"), bytes), DTypeError);
}

TEST(Scalar, CastsBetweenAllPairs) {
  const std::vector<DType> all{bool_,    int8,    int16,   int32,     int64,
                               uint8,    uint16,  uint32,  uint64,    float16,
                               bfloat16, float32, float64, complex64, complex128};
  for (const DType from : all)
    for (const DType to : all) {
      const Scalar one = Scalar(1).cast(from);
      EXPECT_EQ(one.cast(to).dtype(), to);
      EXPECT_EQ(one.cast(to).as_double(), 1.0) << from << " to " << to;
      EXPECT_TRUE(one.fits(to)) << from << " to " << to;
    }
}

TEST(Scalar, CastRoundsToHalves) {
  EXPECT_EQ(Scalar(1.0 / 3).cast(float16).as_double(), 0.333251953125);
  EXPECT_EQ(Scalar(1.0 / 3).cast(bfloat16).as_double(), 0.333984375);
  EXPECT_EQ(Scalar(70000).cast(float16).as_double(), infinity);
  EXPECT_EQ(Scalar(std::complex<double>(2.5, 9)).cast(float16).as_double(), 2.5);
}

TEST(Scalar, CastToASmallerDtypeClearsTheOtherBytes) {
  const Scalar cast = Scalar(std::complex<double>(1, 2)).cast(uint8);
  for (int i = 1; i < 16; ++i)
    EXPECT_EQ(static_cast<const std::byte*>(cast.data())[i], std::byte{0});
}

TEST(Scalar, FitsIsTrueWhenTheValueIsPreserved) {
  EXPECT_TRUE(Scalar(255).fits(uint8));
  EXPECT_FALSE(Scalar(256).fits(uint8));
  EXPECT_FALSE(Scalar(-1).fits(uint32)) << "comes back as -1, but is 4294967295 there";
  EXPECT_FALSE(Scalar(-1).fits(uint64));
  EXPECT_FALSE(Scalar(std::numeric_limits<std::uint64_t>::max()).fits(int64));
  EXPECT_FALSE(Scalar(std::numeric_limits<std::uint64_t>::max()).fits(float64));
  EXPECT_FALSE(Scalar(std::numeric_limits<std::int64_t>::max()).fits(float64));
  EXPECT_TRUE(Scalar(std::int64_t{1} << 62).fits(float32));
  EXPECT_TRUE(Scalar(2049.0).fits(float32));
  EXPECT_FALSE(Scalar(2049.0).fits(float16));
  EXPECT_TRUE(Scalar(2048).fits(float16));
  EXPECT_FALSE(Scalar(0.1).fits(float32));
  EXPECT_TRUE(Scalar(nan).fits(float16));
  EXPECT_FALSE(Scalar(nan).fits(int64));
  EXPECT_FALSE(Scalar(nan).fits(bool_));
  EXPECT_TRUE(Scalar(-infinity).fits(bfloat16));
  EXPECT_FALSE(Scalar(infinity).fits(int64));
  EXPECT_FALSE(Scalar(2.5).fits(int32));
  EXPECT_FALSE(Scalar(2).fits(bool_));
  EXPECT_TRUE(Scalar(1.0).fits(bool_));
  EXPECT_TRUE(Scalar(std::complex<double>(3, 0)).fits(int8));
  EXPECT_FALSE(Scalar(std::complex<double>(3, 1)).fits(float64));
}

TEST(Scalar, OtherDtypesFitThemselvesOnlyAndDoNotCast) {
  const std::uint8_t byte = 0x3c;
  const DType small = DType::parse("float8_e4m3fn");
  const Scalar scalar(small, &byte);
  EXPECT_TRUE(scalar.fits(small));
  EXPECT_FALSE(scalar.fits(float32));
  EXPECT_FALSE(Scalar(1).fits(small));
  EXPECT_EQ(core::load<std::uint8_t>(scalar.cast(small).data()), byte);
  EXPECT_THROW(scalar.cast(float32), DTypeError);
  EXPECT_THROW(Scalar(1).cast(small), DTypeError);
  EXPECT_EQ(printed(scalar), "float8_e4m3fn(0x3c)");
}

TEST(Scalar, PrintsAsPythonWould) {
  EXPECT_EQ(printed(true), "True");
  EXPECT_EQ(printed(Scalar(std::int8_t{-5})), "-5");
  EXPECT_EQ(printed(Scalar(std::uint8_t{65})), "65");
  EXPECT_EQ(printed(Scalar(std::numeric_limits<std::uint64_t>::max())), "18446744073709551615");
  EXPECT_EQ(printed(0.1f), "0.1");
  EXPECT_EQ(printed(0.1), "0.1");
  EXPECT_EQ(printed(2.0), "2.0");
  EXPECT_EQ(printed(-0.0), "-0.0");
  EXPECT_EQ(printed(1e300), "1e+300");
  EXPECT_EQ(printed(nan), "nan");
  EXPECT_EQ(printed(-infinity), "-inf");
  EXPECT_EQ(printed(Scalar(0.5).cast(bfloat16)), "0.5");
  EXPECT_EQ(printed(std::complex<double>(1, -2)), "(1.0-2.0j)");
  EXPECT_EQ(printed(std::complex<float>(0, 0.5f)), "(0.0+0.5j)");
}

}  // namespace
}  // namespace spanwise
