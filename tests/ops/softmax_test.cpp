// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Softmax by the kernels for GPUs, compiled for an H200 without one and run on the CPU, and by the
// CPU's loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "../../ops/elementwise/row_pass/softmax.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"
#include "support/compiled_source.hpp"
#include "support/nvrtc_fixture.hpp"

namespace spanwise::ops {
namespace {

class SoftmaxSource : public test::NvrtcTest<> {};

TEST_F(SoftmaxSource, Compiles) {
  for (const DType dtype : {float16, bfloat16, float32, float64})
    for (const bool is_logarithm : {false, true}) {
      std::vector<SoftmaxShape> shapes;
      for (const int packs : {0, 1, 4})
        for (const int group : {1, 32, 1024})
          shapes.push_back({.dtype = dtype,
                            .is_logarithm = is_logarithm,
                            .group = group,
                            .packs = packs,
                            .width = dtype == float64 ? 2 : 4});
      for (const int columns : {32, 256})
        shapes.push_back(
            {.dtype = dtype, .is_logarithm = is_logarithm, .is_column = true, .columns = columns});
      shapes.push_back(
          {.dtype = dtype, .is_logarithm = is_logarithm, .is_column = true, .count = 8});
      for (const SoftmaxShape& shape : shapes) {
        SCOPED_TRACE(testing::Message() << dtype << shape.group << ' ' << shape.packs);
        test::expect_compiles(softmax_source(shape), {"run"});
      }
    }
}

// Values as doubles in C order.
std::vector<double> values_of(const Array& array) {
  const Array wide = contiguous(astype(array, float64));
  const auto* data = static_cast<const double*>(wide.data());
  return {data, data + wide.size()};
}

constexpr double infinity = std::numeric_limits<double>::infinity();

// Values between -8 and 8; the lines of length 7 and more have some that are far apart.
Array logits(const Shape& shape, DType dtype) {
  const Array values = empty(shape, float64, cpu);
  auto* data = static_cast<double*>(values.data());
  for (std::int64_t i = 0; i < values.size(); ++i) {
    data[i] = static_cast<double>(i * 37 % 101) * 0.16 - 8;
    if (i % 53 == 5) data[i] = -infinity;
    if (i % 97 == 11) data[i] = -3e4;
  }
  return astype(values, dtype);
}

// Softmax along the middle axis of (outer, length, inner), computed in double.
std::vector<double> expected_of(const Array& x, bool is_logarithm) {
  std::vector<double> values = values_of(x);
  const std::int64_t length = x.shape()[1], inner = x.shape()[2];
  for (std::int64_t line = 0; line < x.shape()[0] * inner; ++line) {
    const auto at = [&](std::int64_t i) -> double& {
      return values[static_cast<std::size_t>(line / inner * length * inner + i * inner +
                                             line % inner)];
    };
    double highest = -infinity;
    long double sum = 0;  // of 40,000 values
    for (std::int64_t i = 0; i < length; ++i) highest = std::max(highest, at(i));
    for (std::int64_t i = 0; i < length; ++i) sum += std::exp(at(i) - highest);
    for (std::int64_t i = 0; i < length; ++i) {
      const double shifted = at(i) - highest;
      at(i) = is_logarithm ? shifted - static_cast<double>(std::log(sum))
                           : std::exp(shifted) / static_cast<double>(sum);
    }
  }
  return values;
}

double tolerance(DType dtype) {
  if (dtype == float64) return 1e-14;
  return dtype == float32 ? 1e-6 : dtype == float16 ? 1e-3 : 8e-3;
}

void expect_near(const Array& result, const Array& x, bool is_logarithm) {
  const std::vector<double> got = values_of(result), expected = expected_of(x, is_logarithm);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (std::isnan(expected[i]) || std::isinf(expected[i])) {
      ASSERT_TRUE(got[i] == expected[i] || (std::isnan(got[i]) && std::isnan(expected[i]))) << i;
      continue;
    }
    // Small results of 16-bit floats are subnormal; a logarithm near 0 is a difference.
    const double scale = std::abs(expected[i]) + (is_logarithm ? 1 : 1e-4);
    ASSERT_NEAR(got[i], expected[i], tolerance(x.dtype()) * scale) << i;
  }
}

const std::vector<Shape> shapes{{1, 1, 1},    {5, 1, 3},    {40, 7, 1},     {3, 50, 1}, {7, 64, 1},
                                {2, 1000, 1}, {2, 4095, 1}, {1, 40'000, 1}, {3, 5, 7},  {2, 31, 40},
                                {2, 100, 33}, {1, 1000, 5}, {2, 300, 70}};

TEST(Softmax, KernelsMatchTheDefinition) {
  for (const DType dtype : {float32, float64, float16})
    for (const Shape& shape : shapes)
      for (const bool is_logarithm : {false, true}) {
        if (dtype != float32 && shape[1] % 100 != 0) continue;  // each is compiled
        SCOPED_TRACE(testing::Message() << dtype << ' ' << shape << is_logarithm);
        const Array x = logits(shape, dtype);
        const Array z = full(shape, Scalar(7.0), dtype, cpu);
        softmax_by_kernel(x, z, shape[1], shape[2], is_logarithm);
        expect_near(z, x, is_logarithm);
      }
}

TEST(Softmax, LoopsMatchTheDefinition) {
  for (const DType dtype : {float32, float64, float16, bfloat16})
    for (const Shape& shape : shapes)
      for (const bool is_logarithm : {false, true}) {
        SCOPED_TRACE(testing::Message() << dtype << ' ' << shape << is_logarithm);
        const Array x = logits(shape, dtype);
        const std::optional<Array> z = softmax(x, 1, is_logarithm);
        if (!z) GTEST_SKIP() << "this processor has no vector unit with fused multiplication";
        expect_near(*z, x, is_logarithm);
      }
}

TEST(Softmax, NanAndInfinityMakeALineNan) {
  for (const double value : {std::nan(""), infinity})
    for (const std::int64_t inner : {1, 3, 40})
      for (const std::int64_t length : {4, 600}) {
        const Array x = logits({2, length, inner}, float32);
        static_cast<float*>(x.data())[inner] = static_cast<float>(value);
        const Array z = full(x.shape(), Scalar(7.0), float32, cpu);
        softmax_by_kernel(x, z, length, inner, false);
        expect_near(z, x, false);
        if (const std::optional<Array> loops = softmax(x, 1, false)) expect_near(*loops, x, false);
      }
}

TEST(Softmax, KeepsTheOrderOfAxesInMemory) {
  const int order[] = {2, 0, 1};
  const Array x = logits({4, 6, 5}, float32).permute(order);
  for (int axis = 0; axis < 3; ++axis) {
    const std::optional<Array> z = softmax(x, axis, false);
    if (!z) GTEST_SKIP() << "this processor has no vector unit with fused multiplication";
    EXPECT_EQ(z->strides(), x.strides());
    const std::optional<Array> of_copy = softmax(contiguous(x), axis, false);
    const std::vector<double> a = values_of(*z), b = values_of(*of_copy);
    for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-6);
  }
}

}  // namespace
}  // namespace spanwise::ops
