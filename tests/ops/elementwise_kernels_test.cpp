// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// The GPU's kernels of elementwise operations, run on the CPU by the system's compiler, against the
// native loops: what they do for arrays that are not all contiguous.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

#include "../../ops/elementwise/elementwise_compute.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"

namespace spanwise::ops {
namespace {

Array small_numbers(const Shape& shape, DType dtype, int seed) {
  const Array array = empty(shape, int16, cpu);
  for (std::int64_t i = 0; i < array.size(); ++i)
    static_cast<std::int16_t*>(array.data())[i] =
        static_cast<std::int16_t>((i * 7 + i / 13 + seed) % 41);
  return astype(array, dtype);
}
Array some_true(const Shape& shape) {
  const Array array = empty(shape, bool_, cpu);
  for (std::int64_t i = 0; i < array.size(); ++i) static_cast<bool*>(array.data())[i] = i % 3 != 1;
  return array;
}
Array cut(const Array& array, int axis, std::int64_t first, std::int64_t step) {
  return array.slice(axis, {first, {}, step});
}
Array backwards(const Array& array, int axis) { return array.slice(axis, {{}, {}, -1}); }

bool same_values(const Array& a, const Array& b) {
  const Array x = contiguous(a), y = contiguous(b);
  return x.shape() == y.shape() &&
         std::memcmp(x.data(), y.data(), static_cast<std::size_t>(x.nbytes())) == 0;
}

// Runs an operation on `operands` by CPU loops and by kernels, each into the view that `window`
// makes of a poisoned array.
void expect_same(OpId op, std::vector<Array> operands, const Array& base,
                 const std::function<Array(const Array&)>& window, const Array* mask = nullptr) {
  std::vector<Operand> inputs;
  std::vector<DType> dtypes;
  for (const Array& array : operands) {
    inputs.push_back({&array});
    dtypes.push_back(array.dtype());
  }
  const OpSignature signature = resolve(op, dtypes);
  const Array native = copy(base), kernels = copy(base);
  compute_on_cpu(signature, inputs, window(native), mask);
  compute_on_cuda(signature, inputs, window(kernels), mask);
  EXPECT_TRUE(same_values(native, kernels)) << operands[0] << operands.back() << window(native);
}
Array whole(const Array& array) { return array; }

class ElementwiseTiles : public testing::TestWithParam<DType> {};

TEST_P(ElementwiseTiles, MatchTheCpuOnMatricesOfAnySides) {
  const DType dtype = GetParam();
  for (const auto& [rows, columns] : std::vector<std::pair<int, int>>{
           {16, 16}, {31, 33}, {64, 64}, {128, 160}, {130, 67}, {20, 300}, {1000, 17}}) {
    const Array left = small_numbers({columns, rows}, dtype, 1).transpose();
    const Array right = small_numbers({rows, columns}, dtype, 2);
    expect_same(OpId::add, {left, right}, full({rows, columns}, 91, dtype, cpu), whole);
    expect_same(OpId::add, {right, left}, full({rows, columns}, 91, dtype, cpu), whole);
  }
}

TEST_P(ElementwiseTiles, MatchTheCpuOnWindows) {
  const DType dtype = GetParam();
  const Array base = full({3, 70, 72}, 91, dtype, cpu);
  const int swap_last[] = {0, 2, 1}, reverse_axes[] = {2, 1, 0};
  const Array batch = small_numbers({3, 72, 70}, dtype, 1).permute(swap_last);
  const Array outer = small_numbers({72, 70, 3}, dtype, 2).permute(reverse_axes);
  const Array plain = small_numbers({3, 70, 72}, dtype, 3);
  expect_same(OpId::add, {batch, plain}, base, whole);
  expect_same(OpId::add, {batch, outer}, base, whole);
  expect_same(OpId::add, {outer, batch}, base, whole);
  // Backwards on every side, with an odd start, and with gaps.
  expect_same(OpId::subtract, {backwards(batch, 1), backwards(plain, 2)}, base, whole);
  expect_same(OpId::subtract, {backwards(batch, 2), plain}, base, whole);
  const auto reversed = [](const Array& z) { return backwards(backwards(z, 2), 1); };
  expect_same(OpId::subtract, {batch, plain}, base, reversed);
  const auto odd = [](const Array& array) { return cut(cut(array, 1, 3, 1), 2, 5, 1); };
  expect_same(OpId::subtract, {odd(batch), odd(plain)}, base, odd);
  const auto even = [](const Array& array) { return cut(array, 2, 8, 1); };
  expect_same(OpId::subtract, {even(batch), even(plain)}, base, even);
  const auto gaps = [](const Array& array) { return cut(array, 1, 0, 2); };
  expect_same(OpId::subtract, {gaps(batch), gaps(plain)}, base, gaps);
  // Broadcast on either axis.
  const Array row = small_numbers({72}, dtype, 4), column = small_numbers({70, 1}, dtype, 5);
  expect_same(OpId::add, {batch, row}, base, whole);
  expect_same(OpId::add, {column, batch}, base, whole);
}

TEST_P(ElementwiseTiles, MatchTheCpuWithMasks) {
  const DType dtype = GetParam();
  const Array left = small_numbers({70, 131}, dtype, 1).transpose();
  const Array right = small_numbers({131, 70}, dtype, 2);
  const Array base = full({131, 70}, 91, dtype, cpu);
  const Array across = some_true({70, 131}).transpose(), along = some_true({131, 70});
  const Array constant = some_true({131, 1}).broadcast_to({131, 70});
  for (const Array& mask : {across, along, constant})
    expect_same(OpId::multiply, {left, right}, base, whole, &mask);
  expect_same(OpId::multiply, {right, right}, base, whole, &across);
}

TEST_P(ElementwiseTiles, MatchTheCpuForThreeOperands) {
  const DType dtype = GetParam();
  const Array mask = some_true({48, 80}).transpose(), base = full({80, 48}, 91, dtype, cpu);
  const Array left = small_numbers({48, 80}, dtype, 1).transpose();
  const Array right = small_numbers({48, 80}, dtype, 2).transpose();
  expect_same(OpId::where, {mask, left, right}, base, whole);
  expect_same(OpId::where, {some_true({80, 48}), left, right}, base, whole, &mask);
}

INSTANTIATE_TEST_SUITE_P(, ElementwiseTiles, testing::Values(uint8, float32, complex128),
                         [](const auto& test_info) { return test_info.param.name(); });

TEST(ElementwiseTilesOfSeveralDtypes, FitTheWidestDtype) {
  const Array bytes = small_numbers({70, 131}, uint8, 1).transpose();
  const Array doubles = small_numbers({131, 70}, float64, 2);
  const Array base = full({131, 70}, 91, float64, cpu);
  expect_same(OpId::add, {bytes, doubles}, base, whole);
  const Array numbers = small_numbers({70, 131}, complex128, 3).transpose();
  expect_same(OpId::add, {small_numbers({131, 70}, uint8, 4), numbers},
              full({131, 70}, 91, complex128, cpu), whole);
  expect_same(OpId::add, {small_numbers({131, 70}, uint8, 4), bytes},
              full({131, 70}, 91, complex64, cpu), whole);
}

class ElementwiseRows : public testing::TestWithParam<DType> {};

TEST_P(ElementwiseRows, MatchTheCpuOnReversedAndStridedVectors) {
  const DType dtype = GetParam();
  for (const std::int64_t size : {1, 31, 33, 64, 256, 1000, 1023}) {
    const Array x = small_numbers({size}, dtype, 1), y = small_numbers({size}, dtype, 2);
    const Array base = full({size}, 91, dtype, cpu);
    expect_same(OpId::subtract, {backwards(x, 0), y}, base, whole);
    expect_same(OpId::subtract, {x, backwards(y, 0)}, base, whole);
    expect_same(OpId::subtract, {backwards(x, 0), backwards(y, 0)}, base, whole);
    const auto reversed = [](const Array& z) { return backwards(z, 0); };
    expect_same(OpId::subtract, {x, y}, base, reversed);
    const Array third = cut(small_numbers({size * 3}, dtype, 3), 0, 1, 3);
    expect_same(OpId::subtract, {third, y}, base, whole);
    const Array shifted = cut(small_numbers({size + 1}, dtype, 4), 0, 1, 1);
    expect_same(OpId::subtract, {shifted, backwards(shifted, 0)}, base, whole);
    const Array mask = backwards(some_true({size}), 0);
    expect_same(OpId::subtract, {third, y}, base, whole, &mask);
  }
}

TEST_P(ElementwiseRows, MatchTheCpuOnMatrices) {
  const DType dtype = GetParam();
  const Array base = full({7, 160}, 91, dtype, cpu);
  const Array x = small_numbers({7, 160}, dtype, 1), row = small_numbers({160}, dtype, 2);
  expect_same(OpId::subtract, {backwards(x, 1), row}, base, whole);
  expect_same(OpId::subtract, {backwards(x, 0), backwards(row, 0)}, base, whole);
  const auto first_columns = [](const Array& array) { return array.slice(1, {0, 150, 1}); };
  expect_same(OpId::subtract, {first_columns(backwards(x, 1)), first_columns(x)}, base,
              first_columns);
  const Array column = small_numbers({7, 1}, dtype, 3);
  expect_same(OpId::subtract, {cut(x, 1, 0, 2), column}, full({7, 80}, 91, dtype, cpu), whole);
  expect_same(OpId::subtract, {cut(x, 1, 0, 2), column}, base,
              [](const Array& z) { return cut(z, 1, 1, 2); });
}

INSTANTIATE_TEST_SUITE_P(, ElementwiseRows, testing::Values(uint8, float32),
                         [](const auto& test_info) { return test_info.param.name(); });

}  // namespace
}  // namespace spanwise::ops
