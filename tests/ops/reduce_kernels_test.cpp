// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// The GPU's kernels of scans, argmin and argmax, run on the CPU by the system's compiler, against
// the native loops.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "../../ops/reduce/reduce_job.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"

namespace spanwise::ops::reduce {
namespace {

// Whole numbers, so that no order of additions matters.
Array whole_numbers(const Shape& shape, DType dtype, int seed) {
  const Array array = empty(shape, int8, cpu);
  for (std::int64_t i = 0; i < array.size(); ++i)
    static_cast<std::int8_t*>(array.data())[i] =
        static_cast<std::int8_t>((i * 7 + i / 13 + seed) % 9 - (dtype == uint8 ? 0 : 4));
  return astype(array, dtype);
}
bool same_numbers(const Array& a, const Array& b) {
  const Array x = contiguous(a), y = contiguous(b);
  return std::memcmp(x.data(), y.data(), static_cast<std::size_t>(x.nbytes())) == 0;
}

void expect_same_sums(const Array& input, int axis, DType result, const Array* out = nullptr) {
  const ReductionTypes kernel{ReductionKind::sum, input.dtype(),
                              accumulator_for(ReductionKind::sum, input.dtype(), false)};
  const Array native = empty(input.shape(), result, cpu);
  const Array kernels = out != nullptr ? *out : empty(input.shape(), result, cpu);
  fill(kernels, Scalar(true).cast(result));
  scan_on_cpu({kernel, &input, &native, axis});
  scan_on_cuda({kernel, &input, &kernels, axis});
  EXPECT_TRUE(same_numbers(native, kernels)) << input << " along " << axis << " as " << result;
}

struct Dtypes {
  DType element, result;
};
class ScanKernels : public testing::TestWithParam<Dtypes> {};

TEST_P(ScanKernels, MatchTheCpuOnOneLine) {
  const auto [element, result] = GetParam();
  for (const std::int64_t size : {1, 33, 513, 4096, 40'001}) {
    const Array x = whole_numbers({size}, element, 1);
    expect_same_sums(x, 0, result);
    expect_same_sums(x.slice(0, {{}, {}, -1}), 0, result);
    if (size != 4096) continue;
    expect_same_sums(x.slice(0, {1, {}, {}}), 0, result);
    expect_same_sums(x.slice(0, {{}, {}, 3}), 0, result);
  }
}

TEST_P(ScanKernels, MatchTheCpuOnManyLines) {
  const auto [element, result] = GetParam();
  for (const Shape& shape : {Shape{100, 7}, Shape{3, 70, 40}, Shape{2, 9000}}) {
    const Array x = whole_numbers(shape, element, 2);
    for (int axis = 0; axis < x.rank(); ++axis) expect_same_sums(x, axis, result);
    expect_same_sums(x.transpose().slice(0, {{}, {}, -1}), 0, result);
  }
  const Array x = whole_numbers({64, 200}, element, 3);
  expect_same_sums(x.slice(0, {0, 1, {}}).broadcast_to({64, 200}), 0, result);
  const Array out = empty({64, 200}, result, cpu).slice(1, {{}, {}, -1});
  expect_same_sums(x, 1, result, &out);
}

// Many lines are scanned by a warp each, few long ones by blocks.
TEST(ScanLines, ManyShortAndFewLongLinesMatch) {
  expect_same_sums(whole_numbers({4100, 36}, float32, 1), 1, float64);
  expect_same_sums(whole_numbers({4, 1300}, float32, 1).slice(1, {0, 500, {}}), 1, float64);
}

INSTANTIATE_TEST_SUITE_P(, ScanKernels,
                         testing::Values(Dtypes{uint8, int64}, Dtypes{float32, float32},
                                         Dtypes{complex128, complex64}),
                         [](const auto& test_info) {
                           return test_info.param.element.name() + test_info.param.result.name();
                         });

// More chunks than one group. The values are such that another order of additions would give other
// sums.
TEST(ScanChunks, AreAddedInTheSameOrderInEachRun) {
  const std::int64_t size = 140'000;
  const Array x = empty({size}, float64, cpu);
  std::uint64_t state = 1;
  for (std::int64_t i = 0; i < size; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    static_cast<double*>(x.data())[i] = static_cast<double>(state >> 20) * 1e-9 - 8000;
  }
  const ReductionTypes kernel{ReductionKind::sum, float64, float64};
  const Array native = empty({size}, float64, cpu), first = empty({size}, float64, cpu),
              second = empty({size}, float64, cpu);
  scan_on_cpu({kernel, &x, &native, 0});
  scan_on_cuda({kernel, &x, &first, 0});
  scan_on_cuda({kernel, &x, &second, 0});
  EXPECT_TRUE(same_numbers(first, second));
  for (std::int64_t i = 0; i < size; i += 97)
    ASSERT_NEAR(static_cast<double*>(first.data())[i], static_cast<double*>(native.data())[i], 1e-4)
        << i;
}

TEST(ScanChunks, OfOneLineAreNotAddedToAnother) {
  expect_same_sums(whole_numbers({2, 140'000}, float64, 5), 1, float64);
}

// More than 32 groups of 32 chunks of 1024 elements.
TEST(ScanChunks, MatchTheCpuBeyond1024Chunks) {
  expect_same_sums(whole_numbers({1'100'000}, complex128, 6), 0, complex128);
}

// Partial products that are infinite or 0 although the whole product is not, and lines that
// underflow.
TEST(ScanProducts, OverflowAndVanishWhereTheLineDoes) {
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<std::vector<double>> cases{{0, 1e300, -1e300},
                                               {1e-300, 1e200, 1e200, 3},
                                               {1e300, 1e-200, 1e-200, -7},
                                               {1e300, 1e300, -1e-300, 2},
                                               {1e-300, 1e-300, 1e300, 1e300},
                                               {0, infinity, 2},
                                               {1e300, 1e300, 0, 1},
                                               {1e-160, 1e-140, 1e300, 4},
                                               {1e154, 1e154, 5e-1, 1e154, 1e-300}};
  const std::int64_t size = 9000;
  for (const std::vector<double>& numbers : cases)
    for (const std::int64_t distance : {1, 2, 700, 1800}) {
      const Array x = full({size}, 1.0, float64, cpu);
      for (std::size_t i = 0; i < numbers.size(); ++i)
        static_cast<double*>(x.data())[3 + static_cast<std::int64_t>(i) * distance] = numbers[i];
      const Array native = empty({size}, float64, cpu), kernels = full({size}, 7.0, float64, cpu);
      scan_on_cpu({{ReductionKind::prod, float64, float64}, &x, &native, 0});
      scan_on_cuda({{ReductionKind::prod, float64, float64}, &x, &kernels, 0});
      for (std::int64_t i = 0; i < size; ++i) {
        const double exact = static_cast<double*>(native.data())[i];
        const double ours = static_cast<double*>(kernels.data())[i];
        const bool is_same = std::isfinite(exact) && std::isfinite(ours)
                                 ? std::abs(ours - exact) <= 1e-14 * std::abs(exact)
                                 : ours == exact || (std::isnan(ours) && std::isnan(exact));
        ASSERT_TRUE(is_same) << exact << " " << ours << " at " << i << " of " << numbers[0] << ", "
                             << numbers[1] << ", ... with distance " << distance;
      }
    }
}

// ---- argmin and argmax

void expect_same_indices(ReductionKind kind, const Array& input, int axis) {
  const ReductionTypes kernel{kind, input.dtype(), accumulator_for(kind, input.dtype(), false)};
  Shape shape = input.shape();
  shape[axis] = 1;
  const Array native = empty(shape, int64, cpu), kernels = full(shape, -7, int64, cpu);
  ReduceJob job;
  job.types = kernel;
  job.input = &input;
  job.result = &native;
  run_on_cpu(job);
  job.result = &kernels;
  run_on_cuda(job);
  EXPECT_TRUE(same_numbers(native, kernels)) << input << " along " << axis;
}

class ArgMinMaxKernels : public testing::TestWithParam<DType> {};

TEST_P(ArgMinMaxKernels, ReturnTheFirstOccurrence) {
  for (const ReductionKind kind : {ReductionKind::argmin, ReductionKind::argmax})
    for (const Shape& shape : {Shape{1, 40'001}, Shape{1, 2000}, Shape{9, 130}, Shape{40, 7}}) {
      // Every value occurs many times; the first occurrence is expected.
      const Array x = whole_numbers(shape, GetParam(), 4);
      expect_same_indices(kind, x, 1);
      expect_same_indices(kind, x.slice(1, {{}, {}, -1}), 1);
      expect_same_indices(kind, x.slice(1, {3, {}, {}}), 1);
      expect_same_indices(kind, zeros(shape, GetParam(), cpu), 1);
    }
}

TEST_P(ArgMinMaxKernels, ReturnTheFirstOccurrenceInColumns) {
  const int swapped[] = {1, 0, 2};
  for (const ReductionKind kind : {ReductionKind::argmin, ReductionKind::argmax}) {
    expect_same_indices(kind, whole_numbers({1, 3000, 33}, GetParam(), 4), 1);
    const Array x = whole_numbers({3, 300, 64}, GetParam(), 4);
    for (const Array& input : {x, x.permute(swapped), x.slice(1, {{}, {}, -1})})
      expect_same_indices(kind, input, 1);
  }
}

INSTANTIATE_TEST_SUITE_P(, ArgMinMaxKernels, testing::Values(uint8, float32, complex64),
                         [](const auto& test_info) { return test_info.param.name(); });

TEST(ArgMinMaxKernelsOfNaN, ReturnTheFirstNaN) {
  for (const std::int64_t position : {0, 5, 1023, 39'999}) {
    const Array x = whole_numbers({1, 40'000}, float32, 1);
    auto* data = static_cast<float*>(x.data());
    data[position] = data[39'999] = std::numeric_limits<float>::quiet_NaN();
    expect_same_indices(ReductionKind::argmax, x, 1);
    expect_same_indices(ReductionKind::argmin, x, 1);
    expect_same_indices(ReductionKind::argmax, reshape(x, {1000, 40}), 0);
    data[position] = data[39'999] = -std::numeric_limits<float>::infinity();
    expect_same_indices(ReductionKind::argmin, x, 1);
  }
}

// ---- few elements, and rests of batches

TEST(ReductionKernels, MatchTheCpuForAnyNumberOfElements) {
  const int swapped[] = {0, 2, 1};
  for (const ReductionKind kind : {ReductionKind::sum, ReductionKind::min, ReductionKind::argmax})
    for (const std::int64_t extent : {1, 3, 8, 13, 16, 27, 50, 131})
      for (const std::int64_t inner : {1, 5, 40, 1030})
        for (const bool is_permuted : {false, true}) {
          if (extent * inner > 60'000) continue;
          Array x = whole_numbers({2, extent, inner}, float32, 5);
          if (is_permuted) x = copy(x.permute(swapped)).permute(swapped);
          const DType accumulator = accumulator_for(kind, float32, false);
          const DType stored = kind == ReductionKind::argmax ? int64 : accumulator;
          const Array native = empty({2, 1, inner}, stored, cpu);
          const Array kernels = full({2, 1, inner}, -7, stored, cpu);
          ReduceJob job{{kind, float32, accumulator}, &x, &native};
          run_on_cpu(job);
          job.result = &kernels;
          run_on_cuda(job);
          ASSERT_TRUE(same_numbers(native, kernels)) << info(kind).body << extent << ' ' << inner;
        }
}

// ---- deviations whose mean the kernel finds

// The standard deviations of `input` along the axes of `reduced`, by the kernels or by the CPU's
// loops.
bool deviate(bool (*run)(const ReduceJob&), const Array& input, const Array& result) {
  ReduceJob job{{ReductionKind::deviation, input.dtype(), float64}, &input, &result};
  job.finds_mean = true;
  job.finish = Finish::root;
  job.divisor = static_cast<double>(input.size() / result.size());
  return run(job);
}

TEST(DeviationKernels, FindTheirMeans) {
  const int swapped[] = {2, 0, 1};
  for (const DType dtype : {float32, float16, complex64})
    for (const Shape& shape : {Shape{4, 5, 3}, Shape{2, 70, 64}, Shape{1, 40, 300}})
      for (int axis = 0; axis < 3; ++axis)
        for (const bool is_permuted : {false, true}) {
          Array x = whole_numbers(shape, dtype, 3);
          if (is_permuted) x = x.permute(swapped);
          Shape reduced = x.shape();
          reduced[axis] = 1;
          const DType mean_dtype = dtype.is_complex() ? complex128 : float64;
          const Array mean = reduce(Operation::mean, astype(x, mean_dtype),
                                    {.axes = AxisSet(std::size_t{1} << axis), .keepdims = true});
          const Array expected = empty(reduced, float64, cpu);
          ReduceJob job{{ReductionKind::deviation, dtype, float64}, &x, &expected};
          job.subtrahend = &mean;
          job.finish = Finish::root;
          job.divisor = static_cast<double>(x.shape()[axis]);
          ASSERT_TRUE(run_on_cpu(job));
          for (const auto run : {&run_on_cuda, &run_on_cpu}) {
            const Array result = full(reduced, -7.0, float64, cpu);
            ASSERT_TRUE(deviate(run, x, result));
            const auto* got = static_cast<const double*>(contiguous(result).data());
            const auto* wanted = static_cast<const double*>(expected.data());
            for (std::int64_t i = 0; i < result.size(); ++i)
              ASSERT_NEAR(got[i], wanted[i], 1e-12) << dtype << shape << axis << is_permuted;
          }
        }
}

// An output of many elements is reduced by several blocks, or tasks: its mean is computed first.
TEST(DeviationKernels, LeaveLongLinesToTheCaller) {
  const Array x = whole_numbers({200'000}, float32, 1), result = full({1}, -7.0, float64, cpu);
  EXPECT_FALSE(deviate(&run_on_cuda, x, result));
  EXPECT_FALSE(deviate(&run_on_cpu, x, result));
  EXPECT_EQ(*static_cast<const double*>(result.data()), -7.0);
}

}  // namespace
}  // namespace spanwise::ops::reduce
