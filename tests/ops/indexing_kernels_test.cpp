// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// The GPU's kernels of indexing, run on the CPU by the system's compiler, against the native loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <numeric>
#include <vector>

#include "../../ops/indexing/cpu/index_loops.hpp"
#include "../../ops/indexing/cuda/cuda_indexing.hpp"
#include "../../ops/indexing/indexing.hpp"
#include "../../ops/indexing/selection.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"

namespace spanwise::ops {
namespace {

// Elements of any dtype whose bytes differ from those of their neighbours.
Array counting(const Shape& shape, DType dtype) {
  const Array array = empty(shape, dtype, cpu);
  auto* bytes = static_cast<std::uint8_t*>(array.data());
  for (std::int64_t i = 0; i < array.nbytes(); ++i)
    bytes[i] = static_cast<std::uint8_t>(i * 31 + i / 251);
  return array;
}
Array indices_of(const Shape& shape, const std::vector<std::int64_t>& values) {
  const Array array = empty(shape, int64, cpu);
  std::copy(values.begin(), values.end(), static_cast<std::int64_t*>(array.data()));
  return array;
}
bool same_bytes(const Array& a, const Array& b) {
  const Array x = contiguous(a), y = contiguous(b);
  return x.shape() == y.shape() &&
         (x.nbytes() == 0 ||
          std::memcmp(x.data(), y.data(), static_cast<std::size_t>(x.nbytes())) == 0);
}
Array every_third(std::int64_t size) {
  const Array mask = empty({size}, bool_, cpu);
  for (std::int64_t i = 0; i < size; ++i) static_cast<bool*>(mask.data())[i] = i % 3 == 1;
  return mask;
}

std::vector<std::vector<IndexPart>> keys() {
  return {{indices_of({3}, {4, -5, 2})},
          {Slice{}, indices_of({2, 2}, {0, -1, 3, 3})},
          {indices_of({2, 1}, {0, 4}), indices_of({3}, {1, 1, -2}), Ellipsis{}},
          {indices_of({2}, {1, 1}), Slice{{}, {}, -2}, indices_of({2}, {0, 2})},
          {Slice{1, 4, 1}, NewAxis{}, every_third(4), indices_of({1}, {-1})}};
}

// Many searches begin in a tree in shared memory.
TEST(SearchKernels, MatchTheCpu) {
  for (const DType dtype : {int8, uint16, int64, uint64, float32, float64}) {
    for (const std::int64_t size : {1, 2, 7, 64, 100, 20'000}) {
      const Array thirds = empty({size}, int64, cpu);
      for (std::int64_t i = 0; i < size; ++i)
        static_cast<std::int64_t*>(thirds.data())[i] = std::min<std::int64_t>(i / 3, 120);
      const Array line = astype(thirds, dtype);
      for (const std::int64_t count : {50, 70'000}) {
        if (count > 50 && dtype != int8 && dtype != float64) continue;
        const Array values = astype(counting({count}, uint8), dtype);
        if (dtype == float64) static_cast<double*>(values.data())[7] = std::nan("");
        for (const Side side : {Side::left, Side::right}) {
          const Array positions = full({count}, Scalar(std::int64_t{-1}), int64, cpu);
          search_by_kernel(line, values, side, positions);
          EXPECT_TRUE(same_bytes(search_sorted(line, values, side), positions))
              << dtype << size << ' ' << count;
        }
      }
    }
  }
}

class IndexingKernels : public testing::TestWithParam<DType> {};

TEST_P(IndexingKernels, MatchTheCpu) {
  for (const Array& array : {counting({5, 4, 3}, GetParam()),
                             counting({3, 4, 5}, GetParam()).transpose().slice(0, {{}, {}, -1})}) {
    for (const auto& key : keys()) {
      const Selection selection = select(array, key, Bounds::raise, /*writes=*/false);
      const Array native = empty(selection.result_shape(), GetParam(), cpu);
      const Array kernels = zeros(selection.result_shape(), GetParam(), cpu);
      move_on_host(selection, native, MoveDirection::read);
      move_on_gpu(selection, kernels, MoveDirection::read);
      EXPECT_TRUE(same_bytes(native, kernels)) << array;
    }
  }
}

TEST_P(IndexingKernels, WriteTheLastOfSeveralValues) {
  for (const auto& key : keys()) {
    const Array native = counting({5, 4, 3}, GetParam()), kernels = copy(native);
    const Selection first = select(native, key, Bounds::raise, /*writes=*/true);
    const Selection second = select(kernels, key, Bounds::raise, /*writes=*/true);
    const Array value = counting(first.result_shape(), GetParam());
    move_on_host(first, value, MoveDirection::write);
    move_on_gpu(second, value, MoveDirection::write);
    EXPECT_TRUE(same_bytes(native, kernels));
    const Array scalar = counting({}, GetParam()).broadcast_to(first.result_shape());
    move_on_host(first, scalar, MoveDirection::write);
    move_on_gpu(second, scalar, MoveDirection::write);
    EXPECT_TRUE(same_bytes(native, kernels));
  }
}

INSTANTIATE_TEST_SUITE_P(, IndexingKernels,
                         testing::Values(uint8, int16, float32, float64, complex128,
                                         DType(DTypeCode::opaque, 96)),
                         [](const auto& test_info) { return test_info.param.name(); });

// Integers so small that sums in every order are equal.
Array small_numbers(const Shape& shape, DType dtype) {
  const Array wide = empty(shape, int64, cpu);
  auto* values = static_cast<std::int64_t*>(wide.data());
  for (std::int64_t i = 0; i < wide.size(); ++i) values[i] = i * 7 % 3;
  return astype(wide, dtype);
}

class AccumulateKernels : public testing::TestWithParam<DType> {};

TEST_P(AccumulateKernels, MatchTheCpu) {
  for (const Accumulation kind : {Accumulation::add, Accumulation::subtract, Accumulation::multiply,
                                  Accumulation::maximum, Accumulation::minimum}) {
    const bool is_sum = kind == Accumulation::add || kind == Accumulation::subtract;
    if (GetParam().is_bool() && kind == Accumulation::subtract) continue;
    if (GetParam() == complex128 && !is_sum) continue;
    // Compiling a kernel takes long: all keys for one sum, one key otherwise.
    auto tested_keys = keys();
    if (kind != Accumulation::add || GetParam() != float32) tested_keys = {tested_keys[1]};
    for (const auto& key : tested_keys) {
      SCOPED_TRACE(static_cast<int>(kind));
      const Array native = small_numbers({5, 4, 3}, GetParam()), kernels = copy(native);
      const Selection first = select(native, key, Bounds::raise, /*writes=*/true);
      const Selection second = select(kernels, key, Bounds::raise, /*writes=*/true);
      const Array value = small_numbers(first.result_shape(), GetParam());
      move_on_host(first, value, MoveDirection::write, accumulate_loops(GetParam(), kind).rows);
      accumulate_on_gpu(second, value, kind);
      EXPECT_TRUE(same_bytes(native, kernels));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, AccumulateKernels,
                         testing::Values(bool_, int8, uint8, int16, uint16, int32, uint32, int64,
                                         uint64, float16, bfloat16, float32, float64, complex64,
                                         complex128),
                         [](const auto& test_info) { return test_info.param.name(); });

TEST(AccumulateWords, PreserveTheOtherBytesOfAWord) {
  const Array array = zeros({7}, uint8, cpu);
  std::fill_n(static_cast<std::uint8_t*>(array.data()), 7, std::uint8_t{250});
  const std::vector<IndexPart> key{indices_of({9}, {1, 1, 1, 2, 2, 3, 5, 5, 5})};
  const Selection selection = select(array.slice(0, {0, 6, 1}), key, Bounds::raise, true);
  accumulate_on_gpu(selection, full({9}, 3, uint8, cpu), Accumulation::add);
  const auto* bytes = static_cast<const std::uint8_t*>(array.data());
  EXPECT_EQ(std::vector<int>(bytes, bytes + 7), (std::vector<int>{250, 3, 0, 253, 250, 3, 250}));
}

void expect_equal_moves(const std::function<Array()>& make, const std::vector<IndexPart>& key) {
  const Array native = make(), kernels = make();
  const Selection first = select(native, key, Bounds::raise, /*writes=*/true);
  const Selection second = select(kernels, key, Bounds::raise, /*writes=*/true);
  const Array read = empty(first.result_shape(), native.dtype(), cpu), read_by_kernels = copy(read);
  move_on_host(first, read, MoveDirection::read);
  move_on_gpu(second, read_by_kernels, MoveDirection::read);
  EXPECT_TRUE(same_bytes(read, read_by_kernels)) << native;
  const Array value = counting(first.result_shape(), native.dtype());
  move_on_host(first, value, MoveDirection::write);
  move_on_gpu(second, value, MoveDirection::write);
  EXPECT_TRUE(same_bytes(native, kernels)) << native;
}

TEST(IndexKernels, MoveRowsInWordsOfEveryWidth) {
  const Array indices = indices_of({5}, {3, 0, -1, 3, 1});
  for (const Shape& shape : {Shape{4, 8, 3}, {4, 3, 2, 1}, {4, 1, 5}, {4, 6, 16}, {4, 10}})
    for (const DType dtype : {uint8, int16, float32, complex64})
      for (const std::int64_t skipped : {0, 1, 2})
        expect_equal_moves(
            [&] {
              Shape larger = shape;
              larger[1] += skipped;
              return counting(larger, dtype).slice(1, {skipped, {}, 1});
            },
            {indices});
}

TEST(IndexKernels, MoveVectors) {
  for (const DType dtype : {uint8, float32, complex128})
    for (const std::int64_t step : {1, -1, 3})
      expect_equal_moves([&] { return counting({30}, dtype).slice(0, {{}, {}, step}); },
                         {indices_of({12}, {3, 0, -1, 3, 1, 9, 9, -10, 2, 2, 0, 5})});
}

// So many writes that the kernels first mark the targets that occur repeatedly; with and without
// such targets.
TEST(IndexKernels, MoveLongVectors) {
  constexpr std::int64_t size = 1 << 20, count = 70'000;
  for (const std::int64_t distinct : {count, count - 7, std::int64_t{100}}) {
    std::vector<std::int64_t> indices(count);
    for (std::int64_t i = 0; i < count; ++i)
      indices[static_cast<std::size_t>(i)] = i * 31 % distinct * 13 - (i % 3 == 0 ? size : 0);
    for (const DType dtype : {uint8, float32, complex128})
      expect_equal_moves([&] { return counting({size}, dtype); }, {indices_of({count}, indices)});
    expect_equal_moves([&] { return counting({size, 2}, int32).slice(1, {0, 1, 1}); },
                       {indices_of({count, 1}, indices), indices_of({1}, {0})});
  }
}

TEST(IndexKernels, TakeManyIndexArrays) {
  for (const int rank : {16, 17, 40}) {
    const Shape shape = Shape(rank, 1).inserted(rank / 2, 4).inserted(1, 3);
    std::vector<IndexPart> key(static_cast<std::size_t>(shape.size()),
                               indices_of({6}, {0, 0, 0, 0, 0, 0}));
    key[1] = indices_of({6}, {2, -2, 0, 2, 1, 1});
    key[static_cast<std::size_t>(rank / 2 + 1)] = indices_of({2, 1}, {-1, 1});
    expect_equal_moves([&] { return counting(shape, int32); }, key);
  }
}

TEST(IndexKernels, TakeAlongAnAxis) {
  const Array array = counting({4, 3}, int32);
  const Selection selection =
      select_along(array, indices_of({2, 3}, {0, -1, 2, 3, 3, 1}), 0, /*writes=*/false);
  const Array native = empty({2, 3}, int32, cpu), kernels = zeros({2, 3}, int32, cpu);
  move_on_host(selection, native, MoveDirection::read);
  move_on_gpu(selection, kernels, MoveDirection::read);
  EXPECT_TRUE(same_bytes(native, kernels));
}

TEST(MaskKernels, MatchTheCpu) {
  for (const std::int64_t size : {1, 31, 256, 4095, 4096, 4097, 20'000}) {
    const Array mask = every_third(size);
    EXPECT_EQ(count_true_on_gpu(mask), count_true(mask)) << size;
    EXPECT_TRUE(same_bytes(positions_of_true_on_gpu(mask), positions_of_true(mask))) << size;
  }
  const Array cube = reshape(every_third(12'000), {20, 30, 20});
  EXPECT_TRUE(same_bytes(positions_of_true_on_gpu(cube), positions_of_true(cube)));
  const Array transposed = cube.transpose();
  EXPECT_TRUE(same_bytes(positions_of_true_on_gpu(transposed), positions_of_true(transposed)));
  EXPECT_EQ(positions_of_true_on_gpu(zeros({5, 7}, bool_, cpu)).shape(), (Shape{2, 0}));
  EXPECT_EQ(positions_of_true_on_gpu(full({}, true, bool_, cpu)).shape(), (Shape{0, 1}));
}

TEST(IndexKernels, DetectIndicesOutOfBounds) {
  const Array indices = indices_of({5}, {0, -4, 3, -1, 2});
  EXPECT_FALSE(outside_on_gpu(indices, 4).has_value());
  EXPECT_TRUE(outside_on_gpu(indices, 3).has_value());
  EXPECT_EQ(outside_on_gpu(indices_of({3}, {0, -9, 1}), 4), -9);
}

TEST(IndexKernels, WrapAndClip) {
  const Array indices = indices_of({5}, {0, -4, 3, -7, 8});
  EXPECT_TRUE(
      same_bytes(apply_bounds_on_gpu(indices, 3, Bounds::wrap), indices_of({5}, {0, 2, 0, 2, 2})));
  EXPECT_TRUE(
      same_bytes(apply_bounds_on_gpu(indices, 3, Bounds::clip), indices_of({5}, {0, 0, 2, 0, 2})));
}

}  // namespace
}  // namespace spanwise::ops
