// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// The CUDA text of products, compiled for an H200 without one.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "../../ops/linalg/product_problem.hpp"
#include "spanwise/core/error.hpp"
#include "support/compiled_source.hpp"
#include "support/nvrtc_fixture.hpp"

namespace spanwise::ops::linalg {
namespace {

class ProductSource : public test::NvrtcTest<testing::TestWithParam<DType>> {};

void expect_compiles(DType dtype, const std::string& source,
                     const std::vector<std::string>& kernels) {
  SCOPED_TRACE(testing::Message() << dtype);
  test::expect_compiles(source, kernels);
}

TEST_P(ProductSource, Compiles) {
  const DType dtype = GetParam();
  expect_compiles(dtype,
                  cuda_product_source(dtype, dtype.is_complex(), dtype.is_floating() ? 0 : 3),
                  {"tiles", "lines"});
  expect_compiles(dtype, cuda_gemv_source(dtype, dtype.is_complex()),
                  {"rows", "columns", "packed_rows", "packed_columns"});
}

INSTANTIATE_TEST_SUITE_P(, ProductSource,
                         testing::Values(bool_, int8, uint16, int32, uint64, float16, bfloat16,
                                         float32, float64, complex64, complex128),
                         [](const auto& test_info) { return test_info.param.name(); });

TEST(ProductSourceOf, AnUnknownDtypeIsRefused) {
  EXPECT_THROW(cuda_product_source(DType(DTypeCode::opaque, 8), false, 0), DTypeError);
}

}  // namespace
}  // namespace spanwise::ops::linalg
