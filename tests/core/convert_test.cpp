// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/element_conversion.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "spanwise/core/element_types.hpp"

namespace spanwise::core {
namespace {

using std::complex;

TEST(Convert, FloatsTruncateTowardsZero) {
  EXPECT_EQ(convert<std::int32_t>(2.9), 2);
  EXPECT_EQ(convert<std::int32_t>(-2.9f), -2);
  EXPECT_EQ(convert<std::uint8_t>(255.9), 255);
  EXPECT_EQ(convert<std::int64_t>(-0.9), 0);
}

TEST(Convert, BordersOfTheRangesAreExact) {
  EXPECT_EQ(convert<std::int32_t>(2147483647.0), 2147483647);
  EXPECT_EQ(convert<std::int32_t>(2147483647.9), 2147483647);
  EXPECT_EQ(convert<std::int32_t>(-2147483648.0), std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(convert<std::int32_t>(-2147483648.9), std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(convert<std::int64_t>(-0x1p63), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(convert<std::int64_t>(0x1.fffffffffffffp62), 0x7ffffffffffffc00);
  EXPECT_EQ(convert<std::uint64_t>(0x1p63), std::uint64_t{1} << 63);
  EXPECT_EQ(convert<std::uint64_t>(0x1.fffffffffffffp63), 0xfffffffffffff800U);
  EXPECT_EQ(convert<std::uint32_t>(4294967295.5), 4294967295U);
  EXPECT_EQ(convert<std::int32_t>(2147483520.0f), 2147483520);
  EXPECT_EQ(convert<std::int32_t>(-2147483648.0f), std::numeric_limits<std::int32_t>::min());
}

// Results of the same scalar casts in NumPy 2 on x86-64.
TEST(Convert, OutOfRangeIsDefined) {
  EXPECT_EQ(convert<std::int8_t>(300.0), 44);
  EXPECT_EQ(convert<std::uint8_t>(-1.0), 255);
  EXPECT_EQ(convert<std::int32_t>(3e9), std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(convert<std::int32_t>(std::numeric_limits<double>::quiet_NaN()),
            std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(convert<std::int64_t>(std::numeric_limits<float>::infinity()),
            std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(convert<std::uint32_t>(-1.0), 4294967295U);
  EXPECT_EQ(convert<std::uint64_t>(-1.0f), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(convert<std::uint64_t>(0x1p64), 0U);
}

TEST(Convert, IntegersWrap) {
  EXPECT_EQ(convert<std::int8_t>(std::int32_t{200}), -56);
  EXPECT_EQ(convert<std::uint16_t>(std::int64_t{-1}), 65535);
}

TEST(Convert, AnythingNonZeroIsTrue) {
  EXPECT_TRUE(convert<bool>(0.1));
  EXPECT_TRUE(convert<bool>(std::numeric_limits<float>::quiet_NaN()));
  EXPECT_TRUE(convert<bool>(std::int64_t{1} << 40));
  EXPECT_TRUE(convert<bool>(complex<double>(0, 1)));
  EXPECT_FALSE(convert<bool>(-0.0));
  EXPECT_FALSE(convert<bool>(Half(-0.0f)));
  EXPECT_EQ(convert<std::int32_t>(true), 1);
  EXPECT_EQ(static_cast<float>(convert<Half>(true)), 1.0f);
}

TEST(Convert, ComplexToRealDropsTheImaginaryPart) {
  EXPECT_EQ(convert<float>(complex<double>(1.5, 2)), 1.5f);
  EXPECT_EQ(convert<std::int16_t>(complex<float>(-3.7f, 2)), -3);
  EXPECT_EQ(convert<complex<float>>(std::int32_t{4}), complex<float>(4, 0));
  EXPECT_EQ(convert<complex<float>>(complex<double>(0.1, -2)), complex<float>(0.1f, -2));
  EXPECT_EQ(static_cast<float>(convert<BFloat16>(complex<double>(-2, 1))), -2.0f);
}

TEST(ElementTypes, EveryComputableDtypeHasItsType) {
  for (const DType dtype : {bool_, int8, int16, int32, int64, uint8, uint16, uint32, uint64,
                            float16, bfloat16, float32, float64, complex64, complex128}) {
    const DType of_type =
        visit(dtype, "test", []<class T>(std::type_identity<T>) { return dtype_of<T>; });
    EXPECT_EQ(of_type, dtype);
    const auto size =
        visit(dtype, "test", []<class T>(std::type_identity<T>) { return sizeof(T); });
    EXPECT_EQ(size, static_cast<std::size_t>(dtype.itemsize()));
  }
}

TEST(ElementTypes, AForeignBoolIsTrueForAnyBit) {
  const std::uint8_t bytes[] = {0, 1, 2, 255};
  EXPECT_FALSE(load<bool>(bytes));
  for (int i = 1; i < 4; ++i) EXPECT_TRUE(load<bool>(bytes + i));
}

TEST(ElementTypes, RefusesStorageOnlyDtypes) {
  EXPECT_THROW(visit(DType::parse("float8_e5m2"), "cast", [](auto) {}), DTypeError);
}

}  // namespace
}  // namespace spanwise::core
