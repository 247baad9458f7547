// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/cublas.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <vector>

namespace spanwise::cuda {
namespace {

using Number = std::complex<double>;

// cublas<t>gemm as documented by cuBLAS, in loops over column-major matrices, without alpha and
// beta.
void column_major_gemm(const CublasCall& arguments, const GemmCall& call, const Number* a,
                       const Number* b, Number* c) {
  const auto element = [](const Number* matrix, int operation, std::int64_t leading, std::int64_t i,
                          std::int64_t j) {
    const Number value =
        operation == cublas::no_transpose ? matrix[i + j * leading] : matrix[j + i * leading];
    return operation == cublas::conjugate_transpose ? std::conj(value) : value;
  };
  for (std::int64_t i = 0; i < call.columns; ++i)
    for (std::int64_t j = 0; j < call.rows; ++j) {
      Number sum = 0;
      for (std::int64_t k = 0; k < call.depth; ++k)
        sum += element(a, arguments.first_operation, arguments.first_leading, i, k) *
               element(b, arguments.second_operation, arguments.second_leading, k, j);
      c[i + j * call.result_leading] = sum;
    }
}

// Small integers as real and imaginary parts: sums of products are exact.
std::vector<Number> integer_matrix(std::size_t size) {
  std::vector<Number> numbers(size);
  for (std::size_t i = 0; i < size; ++i)
    numbers[i] = {static_cast<double>(i % 7), static_cast<double>(i % 5) - 2.0};
  return numbers;
}

Number element_of(const std::vector<Number>& data, const GemmFactor& factor, std::int64_t row,
                  std::int64_t column) {
  return data[static_cast<std::size_t>(factor.is_transposed ? column * factor.leading + row
                                                            : row * factor.leading + column)];
}

// Expects that the arguments for cuBLAS give the product of the row-major matrices of `call`.
void expect_product(GemmCall call) {
  const std::vector<Number> left = integer_matrix(400), right = integer_matrix(500);
  std::vector<Number> result(400);
  const std::optional<CublasCall> arguments = cublas_call(call, false);
  ASSERT_TRUE(arguments);
  column_major_gemm(*arguments, call, right.data(), left.data(), result.data());
  for (std::int64_t row = 0; row < call.rows; ++row)
    for (std::int64_t column = 0; column < call.columns; ++column) {
      Number sum = 0;
      for (std::int64_t k = 0; k < call.depth; ++k) {
        const Number factor = element_of(left, call.left, row, k);
        sum += (call.conjugate_left ? std::conj(factor) : factor) *
               element_of(right, call.right, k, column);
      }
      EXPECT_EQ(result[static_cast<std::size_t>(row * call.result_leading + column)], sum);
    }
}

TEST(CublasCallOf, IsTheProductForEveryOrderOfTheFactors) {
  for (const bool left_transposed : {false, true})
    for (const bool right_transposed : {false, true}) {
      GemmCall call;
      call.dtype = complex128;
      call.rows = 3, call.columns = 4, call.depth = 5;
      call.left = {nullptr, left_transposed ? 4 : 6, 0, left_transposed};
      call.right = {nullptr, right_transposed ? 5 : 7, 0, right_transposed};
      call.result_leading = 9;
      expect_product(call);
    }
}

TEST(CublasCallOf, ConjugatesASingleRow) {
  for (const bool left_transposed : {false, true}) {
    GemmCall call;
    call.dtype = complex64;
    call.columns = 4, call.depth = 5;
    call.left = {nullptr, left_transposed ? 3 : 5, 0, left_transposed};
    call.right = {nullptr, 4, 0, false};
    call.result_leading = 4;
    call.conjugate_left = true;
    expect_product(call);
  }
}

TEST(CublasCallOf, UsesFullPrecisionByDefault) {
  GemmCall call;
  call.dtype = float32;
  EXPECT_EQ(cublas_call(call, false).value().compute, cublas::compute_32);
  EXPECT_EQ(cublas_call(call, true).value().compute, cublas::compute_tf32);
  for (const DType narrow : {float16, bfloat16}) {
    call.dtype = narrow;
    EXPECT_EQ(cublas_call(call, true).value().compute, cublas::compute_32);
  }
  for (const DType other : {int32, bool_, uint8}) {
    call.dtype = other;
    EXPECT_FALSE(cublas_call(call, false)) << other;
  }
}

TEST(CublasLibrary, IsLoadedWhereItIsInstalled) {
  if (cublas::library_path().empty()) GTEST_SKIP() << "cuBLAS is not installed";
  const cublas::Api* api = cublas::library();
  ASSERT_NE(api, nullptr);
  EXPECT_EQ(cublas::library(), api);
  EXPECT_STREQ(api->get_status_name(cublas::not_supported), "CUBLAS_STATUS_NOT_SUPPORTED");
}

}  // namespace
}  // namespace spanwise::cuda
