// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// The kernels that sort, compiled for an H200 without one and run on the CPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "../../ops/sort/sort.hpp"
#include "spanwise/core/element_types.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/core/half.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"
#include "support/compiled_source.hpp"
#include "support/nvrtc_fixture.hpp"

namespace spanwise::ops {
namespace {

const std::vector<DType> sorted_dtypes{bool_, int8,   uint8,   int16,    uint16,  int32,  uint32,
                                       int64, uint64, float16, bfloat16, float32, float64};

class SortSource : public test::NvrtcTest<> {};

TEST_F(SortSource, Compiles) {
  for (const DType dtype : sorted_dtypes)
    for (const std::int64_t length : {100, 1 << 20, 4096, 1 << 30}) {
      if (length != 100 && length != 1 << 20 && dtype != float32 && dtype != int64) continue;
      SCOPED_TRACE(testing::Message() << dtype << ' ' << length);
      const bool is_even = length % 3 == 0;
      const SortRequest request{!is_even, is_even || dtype.itemsize() == 4, length != 1 << 20};
      const SortShape shape = sort_shape(dtype, length, request);
      test::expect_compiles(
          sort_source(shape),
          shape.by_digits ? std::vector<std::string>{"count_digits", "start_bins", "sort_digit"}
                          : std::vector<std::string>{"sort_rows"});
    }
}

// Words with few distinct values in some digits; of floats NaNs with payloads and zeros too.
Array key_rows(const Shape& shape, DType dtype, unsigned seed) {
  const Array array = empty(shape, dtype, cpu);
  auto* const bytes = static_cast<unsigned char*>(array.data());
  const auto itemsize = static_cast<std::size_t>(dtype.itemsize());
  std::uint64_t state = seed * 7919 + 1;
  for (std::int64_t i = 0; i < array.size(); ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    std::uint64_t word = state >> 11;
    word ^= word << 37;
    if (state >> 60 < 4) word &= 0x8000'8000'8000'8080u;  // zeros and a few others
    if (dtype.is_bool()) word = word >> 5 & 1 ? word & 0xff : 0;
    std::memcpy(bytes + static_cast<std::size_t>(i) * itemsize, &word, itemsize);
  }
  return array;
}

// `value` as a number in the order of its dtype: not NaN, which is above all.
long double number_of(const void* value, DType dtype) {
  if (dtype.is_bool()) return *static_cast<const unsigned char*>(value) != 0;
  if (dtype == float64) return *static_cast<const double*>(value);
  if (dtype == float32) return *static_cast<const float*>(value);
  if (dtype.is_floating()) {
    Half half;
    BFloat16 bfloat;
    std::memcpy(&half.bits, value, sizeof half.bits);
    bfloat.bits = half.bits;
    return dtype == float16 ? static_cast<float>(half) : static_cast<float>(bfloat);
  }
  return with_integer(dtype, [&](auto type) {
    std::memcpy(&type, value, sizeof type);
    return static_cast<long double>(type);
  });
}

const unsigned char* key_at(const Array& array, std::int64_t i) {
  return static_cast<const unsigned char*>(array.data()) + i * array.dtype().itemsize();
}

// Whether key `a` is before key `b`.
bool is_before(const void* a, const void* b, DType dtype, bool is_descending) {
  const long double x = number_of(a, dtype), y = number_of(b, dtype);
  if (std::isnan(x) || std::isnan(y)) return !std::isnan(x) && std::isnan(y);
  return is_descending ? x > y : x < y;
}

void expect_order(const Sorted& sorted, const Array& rows, const SortRequest& request) {
  const std::int64_t count = rows.shape()[0], length = rows.shape()[1];
  const DType dtype = rows.dtype();
  const auto itemsize = static_cast<std::size_t>(dtype.itemsize());
  EXPECT_EQ(sorted.values.has_value(), request.wants_values);
  EXPECT_EQ(sorted.indices.has_value(), request.wants_indices);
  for (std::int64_t row = 0; row < count; ++row) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(length));
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, [&](std::int64_t i, std::int64_t j) {
      return is_before(key_at(rows, row * length + i), key_at(rows, row * length + j), dtype,
                       request.is_descending);
    });
    for (std::int64_t i = 0; i < length; ++i) {
      const std::int64_t at = row * length + i, from = order[static_cast<std::size_t>(i)];
      if (sorted.indices) {
        ASSERT_EQ(static_cast<const std::int64_t*>(sorted.indices->data())[at], from)
            << row << ' ' << i;
      }
      if (sorted.values) {
        ASSERT_EQ(
            std::memcmp(key_at(*sorted.values, at), key_at(rows, row * length + from), itemsize), 0)
            << row << ' ' << i;
      }
    }
  }
}

void expect_sorted(const Array& rows, const SortRequest& request) {
  SCOPED_TRACE(testing::Message() << rows.shape() << request.is_descending << request.wants_values
                                  << request.wants_indices);
  expect_order(sort(rows, 1, request), rows, request);
}

class Sort : public testing::TestWithParam<DType> {};

// Each dtype by a block and by digits; all kinds of results, which are compiled one by one, of one.
TEST_P(Sort, OrdersRowsAsAStableSort) {
  const DType dtype = GetParam();
  expect_sorted(key_rows({5, 33}, dtype, 5), {true, true, true});
  expect_sorted(key_rows({2, 9001}, dtype, 6), {false, true, true});
  if (dtype != float32 && dtype != int64) return;
  for (const std::int64_t length : {1, 500, 2000, 4096, 9001}) {
    expect_sorted(key_rows({2, length}, dtype, 7), {false, true, false});
    expect_sorted(key_rows({2, length}, dtype, 8), {true, false, true});
  }
}

INSTANTIATE_TEST_SUITE_P(AllDTypes, Sort, testing::ValuesIn(sorted_dtypes),
                         [](const auto& dtype) { return dtype.param.name(); });

TEST(SortOfDigits, AreLeftOutWhereAllKeysShareThem) {
  for (const std::uint64_t mask : {0x0ull, 0xffull, 0xff00ull, 0xff00ff00000000ull}) {
    const Array rows = key_rows({2, 9000}, uint64, 3);
    auto* const words = static_cast<std::uint64_t*>(rows.data());
    for (std::int64_t i = 0; i < rows.size(); ++i) words[i] &= mask;
    expect_sorted(rows, {false, true, true});
  }
}

TEST(SortOfLayouts, TakesAnyAxisAndStrides) {
  const int reversed[] = {1, 0};
  const Array whole = key_rows({70, 60}, int16, 4);
  const Array view = whole.slice(0, {69, -71, -2}).permute(reversed);
  const Sorted sorted = sort(view, 0, {});
  const Sorted rows = sort(contiguous(view.permute(reversed)), 1, {});
  EXPECT_TRUE(sorted.values->layout().is_row_major());
  const Array expected = contiguous(rows.values->permute(reversed));
  EXPECT_EQ(std::memcmp(sorted.values->data(), expected.data(),
                        static_cast<std::size_t>(expected.size()) * 2),
            0);
}

TEST(SortOfNothing, IsEmptyAndComplexNumbersAreRefused) {
  EXPECT_EQ(sort(empty({0, 3}, float32, cpu), 0, {}).values->size(), 0);
  EXPECT_THROW(sort(empty({3}, complex64, cpu), 0, {}), DTypeError);
}

}  // namespace
}  // namespace spanwise::ops
