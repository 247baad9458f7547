// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// The CUDA kernels of products, run on the CPU and compared with the CPU's own loops.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <utility>

#include "../../ops/linalg/product_problem.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"

namespace spanwise::ops::linalg {
namespace {

Array random_whole_numbers(const Shape& shape, DType dtype, unsigned seed) {
  std::mt19937 random(seed);
  Array values = empty(shape, int32, cpu);
  auto* data = static_cast<std::int32_t*>(values.data());
  for (std::int64_t i = 0; i < values.size(); ++i)
    data[i] = static_cast<std::int32_t>(random() % 19) - (dtype.is_bool() ? 16 : 9);
  if (dtype.is_bool()) {
    // Bytes that are neither 0 nor 1 are true too.
    Array bytes = astype(values, uint8);
    for (std::int64_t i = 0; i < bytes.size(); ++i) {
      auto& byte = static_cast<std::uint8_t*>(bytes.data())[i];
      byte = byte > 128 ? std::uint8_t{0} : byte;
    }
    return bytes.reinterpret(bool_);
  }
  return astype(values, dtype);
}

void expect_equal(const Array& a, const Array& b) {
  const Array x = astype(contiguous(a), complex128), y = astype(contiguous(b), complex128);
  const auto *p = static_cast<const double*>(x.data()), *q = static_cast<const double*>(y.data());
  for (std::int64_t i = 0; i < 2 * x.size(); ++i) ASSERT_EQ(p[i], q[i]) << "number " << i;
}

class ProductKernels : public testing::TestWithParam<DType> {
 protected:
  // Whole numbers, so that no order of additions matters.
  void compare(const Array& left, const Array& right, const Array& result, bool conjugates) {
    compare(left, right, result, ProductTerms{.conjugates = conjugates});
    const Array addend = random_whole_numbers(result.shape(), result.dtype(), 9);
    const double factor = result.dtype().is_bool() ? 1 : 3;
    compare(left, right, result,
            {.conjugates = conjugates, .alpha = factor, .beta = factor, .addend = &addend});
  }
  void compare(const Array& left, const Array& right, const Array& result,
               const ProductTerms& terms) {
    const Array expected = empty(result.shape(), result.dtype(), cpu);
    own_product_on_cpu(describe_product(left, right, expected, terms));
    const Scalar one = Scalar(true).cast(result.dtype());
    fill(result, one);
    own_product_on_cuda(describe_product(left, right, result, terms), cpu);
    expect_equal(result, expected);
    fill(result, one);
    if (gemv_on_cuda(describe_product(left, right, result, terms), cpu))
      expect_equal(result, expected);
    fill(result, one);
    if (gemv_on_cpu(describe_product(left, right, result, terms), GemvSizes::all))
      expect_equal(result, expected);
  }
};

TEST_P(ProductKernels, TilesMatchTheCpu) {
  const DType dtype = GetParam();
  const Array left = random_whole_numbers({2, 1, 70, 33}, dtype, 1);
  const Array right = random_whole_numbers({3, 33, 65}, dtype, 2);
  compare(left, right, empty({2, 3, 70, 65}, dtype, cpu), false);
  const int swapped[] = {0, 1, 3, 2}, swapped_right[] = {0, 2, 1};
  const Array transposed = random_whole_numbers({2, 3, 65, 70}, dtype, 3).permute(swapped);
  compare(left, random_whole_numbers({3, 65, 33}, dtype, 4).permute(swapped_right), transposed,
          false);
}

TEST_P(ProductKernels, LinesMatchTheCpu) {
  const DType dtype = GetParam();
  const Array left = random_whole_numbers({5, 1, 700}, dtype, 1);
  const Array right = random_whole_numbers({700, 5, 1}, dtype, 2);
  const int to_front[] = {1, 0, 2};
  compare(left, right.permute(to_front), empty({5, 1, 1}, dtype, cpu), true);
}

TEST_P(ProductKernels, GemvMatchesTheCpu) {
  const DType dtype = GetParam();
  const int swapped[] = {1, 0};
  for (const auto& [rows, depth] : {std::pair{70, 48}, std::pair{33, 515}, std::pair{3, 16}}) {
    const Array x = random_whole_numbers({depth, 1}, dtype, 5);
    const Array left = random_whole_numbers({rows, depth}, dtype, 6);
    const Array transposed = random_whole_numbers({depth, rows}, dtype, 7).permute(swapped);
    const Array result = empty({rows, 1}, dtype, cpu);
    const Slice inner{.start = 1, .stop = rows, .step = 1};
    for (const Array& matrix : {left, transposed}) {
      compare(matrix, x, result, false);
      // Not aligned, and with gaps.
      compare(matrix.slice(0, inner), x, result.slice(0, inner), false);
      compare(x.permute(swapped), matrix.permute(swapped), result.permute(swapped), false);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, ProductKernels,
                         testing::Values(bool_, uint8, int32, int64, float32, complex64),
                         [](const auto& test_info) { return test_info.param.name(); });

}  // namespace
}  // namespace spanwise::ops::linalg
