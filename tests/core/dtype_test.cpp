// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/core/dtype.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "spanwise/core/error.hpp"
#include "support/message_of.hpp"

namespace spanwise {
namespace {

using ::testing::HasSubstr;

struct DTypeRow {
  const char* name;
  int code, bits, lanes, itemsize;
};

class NamedDType : public ::testing::TestWithParam<DTypeRow> {};

TEST_P(NamedDType, NameAndPartsAgree) {
  const DTypeRow& row = GetParam();
  const DType dtype(static_cast<DTypeCode>(row.code), row.bits, row.lanes);
  EXPECT_EQ(dtype.name(), row.name);
  EXPECT_EQ(dtype.itemsize(), row.itemsize);
  EXPECT_EQ(DType::parse(row.name), dtype);
}

// The codes of DLPack 1.3, DLDataTypeCode.
INSTANTIATE_TEST_SUITE_P(
    Computable, NamedDType,
    ::testing::Values(DTypeRow{"bool", 6, 8, 1, 1}, DTypeRow{"int8", 0, 8, 1, 1},
                      DTypeRow{"int16", 0, 16, 1, 2}, DTypeRow{"int32", 0, 32, 1, 4},
                      DTypeRow{"int64", 0, 64, 1, 8}, DTypeRow{"uint8", 1, 8, 1, 1},
                      DTypeRow{"uint16", 1, 16, 1, 2}, DTypeRow{"uint32", 1, 32, 1, 4},
                      DTypeRow{"uint64", 1, 64, 1, 8}, DTypeRow{"float16", 2, 16, 1, 2},
                      DTypeRow{"float32", 2, 32, 1, 4}, DTypeRow{"float64", 2, 64, 1, 8},
                      DTypeRow{"bfloat16", 4, 16, 1, 2}, DTypeRow{"complex64", 5, 64, 1, 8},
                      DTypeRow{"complex128", 5, 128, 1, 16}));
INSTANTIATE_TEST_SUITE_P(
    OnlyMoved, NamedDType,
    ::testing::Values(
        DTypeRow{"float8_e3m4", 7, 8, 1, 1}, DTypeRow{"float8_e4m3", 8, 8, 1, 1},
        DTypeRow{"float8_e4m3b11fnuz", 9, 8, 1, 1}, DTypeRow{"float8_e4m3fn", 10, 8, 1, 1},
        DTypeRow{"float8_e4m3fnuz", 11, 8, 1, 1}, DTypeRow{"float8_e5m2", 12, 8, 1, 1},
        DTypeRow{"float8_e5m2fnuz", 13, 8, 1, 1}, DTypeRow{"float8_e8m0fnu", 14, 8, 1, 1},
        DTypeRow{"float6_e2m3fnx4", 15, 6, 4, 3}, DTypeRow{"float6_e3m2fnx8", 16, 6, 8, 6},
        DTypeRow{"float4_e2m1fnx2", 17, 4, 2, 1}, DTypeRow{"opaque64", 3, 64, 1, 8},
        DTypeRow{"int4x2", 0, 4, 2, 1}, DTypeRow{"float32x4", 2, 32, 4, 16},
        DTypeRow{"boolx3", 6, 8, 3, 3}, DTypeRow{"complex32", 5, 32, 1, 4},
        DTypeRow{"float128", 2, 128, 1, 16}));

TEST(DType, ConstantsAreTheParsedOnes) {
  EXPECT_EQ(DType::parse("float32"), float32);
  EXPECT_EQ(DType{}, float32);
  EXPECT_EQ(DType::parse("bool"), bool_);
  EXPECT_EQ(DType::parse("complex128"), complex128);
  EXPECT_EQ(DType::parse("uint64"), uint64);
  EXPECT_EQ(DType::parse("bfloat16"), bfloat16);
}

TEST(DType, OnlyTheFifteenAreComputable) {
  for (const char* name : {"bool", "int8", "uint64", "float16", "bfloat16", "complex64"})
    EXPECT_TRUE(DType::parse(name).is_computable()) << name;
  for (const char* name : {"float8_e4m3fn", "float32x4", "opaque64", "float128", "complex32",
                           "int4x2", "boolx2", "int24"})
    EXPECT_FALSE(DType::parse(name).is_computable()) << name;
}

TEST(DType, KindsExcludeEachOther) {
  EXPECT_TRUE(bool_.is_bool() && !bool_.is_integer());
  EXPECT_TRUE(uint8.is_integer() && !uint8.is_floating());
  EXPECT_TRUE(bfloat16.is_floating() && float16.is_floating() && !float16.is_complex());
  EXPECT_TRUE(complex64.is_complex() && !complex64.is_floating());
  EXPECT_FALSE(DType::parse("float8_e5m2").is_floating());
}

TEST(DType, UnknownNameErrorListsTheKnownOnes) {
  for (const char* name : {"", "float", "int", "float33.", "flaot32", "int-8", "int8x", "float32x0",
                           "bool16x", "float8_e4m3fnq", " int8", "int8 "}) {
    EXPECT_THAT(
        test::message_of<DTypeError>([&] { (void)DType::parse(name); }),
        ::testing::AllOf(HasSubstr(std::string("\"") + name + "\""), HasSubstr("bfloat16")));
  }
}

TEST(DType, PartialBytesAreRefusedWithTheValidLaneCounts) {
  EXPECT_THAT(test::message_of<DTypeError>([&] { DType(static_cast<DTypeCode>(17), 4); }),
              HasSubstr("float4_e2m1fnx2"));
  EXPECT_THROW(DType(static_cast<DTypeCode>(15), 6, 3), DTypeError);
  EXPECT_THROW(DType(DTypeCode::int_, 0), DTypeError);
  EXPECT_THROW(DType(DTypeCode::int_, -8), DTypeError);
  EXPECT_THROW(DType(DTypeCode::int_, 8, 0), DTypeError);
  EXPECT_THROW(DType(DTypeCode::int_, 256), DTypeError);
  EXPECT_THROW(DType(DTypeCode::int_, 8, 65536), DTypeError);
}

TEST(DType, AnUnknownCodeIsStillNamed) {
  EXPECT_EQ(DType(static_cast<DTypeCode>(200), 16).name(), "dlpack200_16");
}

}  // namespace
}  // namespace spanwise
