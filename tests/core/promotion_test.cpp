// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <sstream>
#include <string>

#include "spanwise/core/dtype.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise {
namespace {

constexpr std::array<DType, 14> dtypes{bool_,   int8,    int16,     int32,     int64,
                                       uint8,   uint16,  uint32,    uint64,    float16,
                                       float32, float64, complex64, complex128};
constexpr std::array<const char*, 14> short_names{"b1", "i1", "i2", "i4", "i8", "u1", "u2",
                                                  "u4", "u8", "f2", "f4", "f8", "c8", "c16"};

// Printed by NumPy 2.4: numpy.result_type of two dtypes; row and column in the order of `dtypes`.
constexpr std::array<const char*, 14> result_types{
    "b1 i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16",
    "i1 i1 i2 i4 i8 i2 i4 i8 f8 f2 f4 f8 c8 c16",
    "i2 i2 i2 i4 i8 i2 i4 i8 f8 f4 f4 f8 c8 c16",
    "i4 i4 i4 i4 i8 i4 i4 i8 f8 f8 f8 f8 c16 c16",
    "i8 i8 i8 i8 i8 i8 i8 i8 f8 f8 f8 f8 c16 c16",
    "u1 i2 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16",
    "u2 i4 i4 i4 i8 u2 u2 u4 u8 f4 f4 f8 c8 c16",
    "u4 i8 i8 i8 i8 u4 u4 u4 u8 f8 f8 f8 c16 c16",
    "u8 f8 f8 f8 f8 u8 u8 u8 u8 f8 f8 f8 c16 c16",
    "f2 f2 f4 f8 f8 f2 f4 f8 f8 f2 f4 f8 c8 c16",
    "f4 f4 f4 f8 f8 f4 f4 f8 f8 f4 f4 f8 c8 c16",
    "f8 f8 f8 f8 f8 f8 f8 f8 f8 f8 f8 f8 c16 c16",
    "c8 c8 c8 c16 c16 c8 c8 c16 c16 c8 c8 c16 c8 c16",
    "c16 c16 c16 c16 c16 c16 c16 c16 c16 c16 c16 c16 c16 c16"};

// Printed by NumPy 2.4: numpy.can_cast from the row to the column.
constexpr std::array<const char*, 14> safe_casts{
    "11111111111111", "01111000011111", "00111000001111", "00011000000101", "00001000000101",
    "00111111111111", "00011011101111", "00001001100101", "00000000100101", "00000000011111",
    "00000000001111", "00000000000101", "00000000000011", "00000000000001"};
constexpr std::array<const char*, 14> same_kind_casts{
    "11111111111111", "01111000011111", "01111000011111", "01111000011111", "01111000011111",
    "01111111111111", "01111111111111", "01111111111111", "01111111111111", "00000000011111",
    "00000000011111", "00000000011111", "00000000000011", "00000000000011"};

DType by_short_name(const std::string& name) {
  for (std::size_t i = 0; i < dtypes.size(); ++i)
    if (name == short_names[i]) return dtypes[i];
  throw std::logic_error(name);
}

TEST(Promote, MatchesNumPysTable) {
  for (std::size_t row = 0; row < dtypes.size(); ++row) {
    std::istringstream cells(result_types[row]);
    std::string cell;
    for (const DType column : dtypes) {
      ASSERT_TRUE(cells >> cell);
      EXPECT_EQ(promote(dtypes[row], column), by_short_name(cell))
          << dtypes[row] << " with " << column;
    }
  }
}

TEST(Promote, BFloat16JoinsAsInMlDtypes) {
  for (const DType dtype : {bool_, int8, uint8, bfloat16})
    EXPECT_EQ(promote(dtype, bfloat16), bfloat16) << dtype;
  EXPECT_EQ(promote(bfloat16, float32), float32);
  EXPECT_EQ(promote(bfloat16, float64), float64);
  EXPECT_EQ(promote(bfloat16, complex64), complex64);
  EXPECT_EQ(promote(bfloat16, complex128), complex128);
}

TEST(Promote, BFloat16PromotesToFloat32WhenNeeded) {
  for (const DType dtype : {float16, int16, uint16}) {
    EXPECT_EQ(promote(bfloat16, dtype), float32) << dtype;
    EXPECT_EQ(promote(dtype, bfloat16), float32) << dtype;
  }
  for (const DType dtype : {int32, uint32, int64, uint64}) {
    EXPECT_EQ(promote(bfloat16, dtype), float64) << dtype;
    EXPECT_EQ(promote(dtype, bfloat16), float64) << dtype;
  }
}

TEST(Promote, RefusesStorageOnlyDtypes) {
  EXPECT_THROW(promote(float32, DType::parse("float8_e4m3fn")), DTypeError);
  EXPECT_THROW(promote(DType::parse("float32x4"), float32), DTypeError);
}

TEST(CanCast, MatchesNumPysTable) {
  for (std::size_t from = 0; from < dtypes.size(); ++from) {
    for (std::size_t to = 0; to < dtypes.size(); ++to) {
      const auto pair = text(dtypes[from], " to ", dtypes[to]);
      EXPECT_EQ(can_cast(dtypes[from], dtypes[to], Casting::safe), safe_casts[from][to] == '1')
          << pair;
      EXPECT_EQ(can_cast(dtypes[from], dtypes[to], Casting::same_kind),
                same_kind_casts[from][to] == '1')
          << pair;
      EXPECT_EQ(can_cast(dtypes[from], dtypes[to], Casting::no), from == to) << pair;
      EXPECT_EQ(can_cast(dtypes[from], dtypes[to], Casting::equiv), from == to) << pair;
      EXPECT_TRUE(can_cast(dtypes[from], dtypes[to], Casting::unsafe)) << pair;
    }
  }
}

TEST(CanCast, BFloat16IsAFloatBetween8BitIntegersAndFloat32) {
  for (const DType dtype : {bool_, int8, uint8})
    EXPECT_TRUE(can_cast(dtype, bfloat16, Casting::safe)) << dtype;
  for (const DType dtype : {int16, uint16, int64, float16, float32})
    EXPECT_FALSE(can_cast(dtype, bfloat16, Casting::safe)) << dtype;
  for (const DType dtype : {float32, float64, complex64, complex128})
    EXPECT_TRUE(can_cast(bfloat16, dtype, Casting::safe)) << dtype;
  EXPECT_FALSE(can_cast(bfloat16, float16, Casting::safe));
  EXPECT_TRUE(can_cast(bfloat16, float16, Casting::same_kind));
  EXPECT_TRUE(can_cast(float64, bfloat16, Casting::same_kind));
  EXPECT_FALSE(can_cast(bfloat16, int64, Casting::same_kind));
}

TEST(CanCast, StorageOnlyDtypesCastOnlyToThemselves) {
  const DType small = DType::parse("float8_e4m3fn");
  EXPECT_TRUE(can_cast(small, small, Casting::no));
  EXPECT_FALSE(can_cast(small, float32, Casting::unsafe));
  EXPECT_FALSE(can_cast(float32, small, Casting::unsafe));
}

}  // namespace
}  // namespace spanwise
