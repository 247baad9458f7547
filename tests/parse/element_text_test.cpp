// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/parse/c_text.hpp"

#include <gtest/gtest.h>

#include <string>

#include "parse/kernel_source.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise {
namespace {

// The dtype that the parser of user kernels reads in a kernel's text.
std::optional<DType> parsed_dtype(const std::string& type) {
  return parse::scan_kernels(text("__global__ void f(const ", type, "* x) {}"))
      .kernels.at(0)
      .parameters.at(0)
      .dtype;
}

TEST(ElementText, IsParsedAsTheDtypeThatItNames) {
  for (const DType dtype :
       {int8, uint8, int16, uint16, int32, uint32, int64, uint64, float32, float64})
    EXPECT_EQ(parsed_dtype(element_text(dtype)), dtype) << element_text(dtype);
}

TEST(ElementText, NamesFloat16AndComplexAsKernelSourceDoes) {
  EXPECT_STREQ(element_text(bool_), "Bool");
  EXPECT_STREQ(element_text(float16), "Half");
  EXPECT_STREQ(element_text(bfloat16), "BFloat");
  EXPECT_STREQ(element_text(complex64), "Complex<float>");
  EXPECT_STREQ(element_text(complex128), "Complex<double>");
}

TEST(ElementText, RefusesStorageOnlyDtypes) {
  for (const DType dtype : {DType(DTypeCode::opaque, 8), DType(DTypeCode::float_, 32, 4),
                            DType(DTypeCode::complex, 32), DType::parse("float8_e5m2")})
    EXPECT_THROW(element_text(dtype), DTypeError) << dtype;
}

TEST(WordText, IsTheUnsignedIntegerOfThatSize) {
  for (const DType dtype : {uint8, uint16, uint32, uint64})
    EXPECT_EQ(parsed_dtype(word_text(dtype.itemsize())), dtype);
  for (const int bytes : {-1, 0, 3, 16}) EXPECT_THROW(word_text(bytes), DTypeError) << bytes;
}

}  // namespace
}  // namespace spanwise
