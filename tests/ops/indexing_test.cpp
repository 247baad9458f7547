// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Indexing in C++: what Python's tests cannot reach, and memory that a sanitizer watches.
#include "../../ops/indexing/indexing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include "../../ops/shape/shape_functions.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"

namespace spanwise::ops {
namespace {

template <class T>
Array array_of(const Shape& shape, DType dtype, const std::vector<T>& values) {
  const Array array = empty(shape, dtype, cpu);
  std::copy(values.begin(), values.end(), static_cast<T*>(array.data()));
  return array;
}
Array counting(const Shape& shape) {
  const Array array = empty(shape, int32, cpu);
  auto* values = static_cast<std::int32_t*>(array.data());
  std::iota(values, values + array.size(), 0);
  return array;
}
Array indices_of(const std::vector<std::int64_t>& values) {
  return array_of<std::int64_t>({static_cast<std::int64_t>(values.size())}, int64, values);
}
std::vector<std::int32_t> values_of(const Array& array) {
  const Array dense = contiguous(array);
  const auto* values = static_cast<const std::int32_t*>(dense.data());
  return {values, values + dense.size()};
}
using Values = std::vector<std::int32_t>;

TEST(Indexing, ReadsRowsElementsAndPairs) {
  const Array a = counting({3, 4});
  const IndexPart rows[] = {indices_of({2, -3})};
  EXPECT_EQ(values_of(index_by(a, rows)), (Values{8, 9, 10, 11, 0, 1, 2, 3}));
  const IndexPart columns[] = {Ellipsis{}, indices_of({3, 0})};
  EXPECT_EQ(index_by(a, columns).shape(), (Shape{3, 2}));
  const IndexPart pairs[] = {indices_of({0, 1, 2}), indices_of({3, 2, 1})};
  EXPECT_EQ(values_of(index_by(a, pairs)), (Values{3, 6, 9}));
}

TEST(Indexing, AxesOfSeparatedIndicesComeFirst) {
  const Array a = counting({2, 3, 4});
  const IndexPart separated[] = {indices_of({0, 1}), Slice{}, indices_of({1, 2})};
  EXPECT_EQ(index_by(a, separated).shape(), (Shape{2, 3}));
  const IndexPart adjacent[] = {Slice{}, indices_of({0, 1, 2}), std::int64_t{3}};
  EXPECT_EQ(index_by(a, adjacent).shape(), (Shape{2, 3}));
  const IndexPart new_axis[] = {std::int64_t{1}, NewAxis{}, indices_of({0})};
  EXPECT_EQ(index_by(a, new_axis).shape(), (Shape{1, 1, 4}));
}

TEST(Indexing, WritesTheLastValueOfSeveral) {
  const Array a = zeros({4}, int32, cpu);
  const IndexPart key[] = {indices_of({1, 3, 1, -1})};
  assign_by(a, key, array_of<std::int32_t>({4}, int32, {5, 6, 7, 8}));
  EXPECT_EQ(values_of(a), (Values{0, 7, 0, 8}));
}

TEST(Indexing, IndexOutOfBoundsWritesNothing) {
  const Array a = zeros({3, 3}, int32, cpu);
  const IndexPart key[] = {Slice{}, indices_of({0, 3})};
  EXPECT_THROW(assign_by(a, key, full({}, 1, int32, cpu)), BoundsError);
  EXPECT_EQ(values_of(a), Values(9, 0));
}

TEST(Indexing, ReadOnlyMemoryIsRefused) {
  const IndexPart key[] = {indices_of({0})};
  EXPECT_THROW(assign_by(counting({3}).as_readonly(), key, full({}, 1, int32, cpu)), ReadOnlyError);
}

// Elements of every size, dense and not, at addresses that no word is aligned to.
TEST(Indexing, ElementsOfEverySizeAtOddAddressesAreMoved) {
  for (const DType dtype : {uint8, int16, DType(DTypeCode::opaque, 24), float32, float64,
                            DType(DTypeCode::opaque, 96), complex128}) {
    const int item = dtype.itemsize();
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(100 * item + 1));
    std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
    const Storage storage =
        Storage::adopt(bytes.data() + 1, bytes.size() - 1, cpu, nullptr, nullptr);
    const Array a(storage, Layout{{9, 5}, {10, 2}, 3}, dtype);
    const IndexPart key[] = {indices_of({8, -9, 3}), indices_of({-1, 0, 2})};
    const Array elements = index_by(a, key);
    const std::int64_t offsets[] = {3 + 80 + 8, 3, 3 + 30 + 4};
    for (int i = 0; i < 3; ++i)
      EXPECT_EQ(std::memcmp(static_cast<const std::byte*>(elements.data()) + i * item,
                            bytes.data() + 1 + offsets[i] * item, static_cast<std::size_t>(item)),
                0)
          << dtype << ' ' << i;
    const IndexPart rows[] = {indices_of({4, 4, 0}), Slice{}};
    EXPECT_EQ(index_by(a, rows).shape(), (Shape{3, 5}));
    assign_by(a, rows, index_by(a, rows));
    assign_by(a, key, elements);
  }
}

TEST(Indexing, MasksOfAnyLayoutSelectTheTrueElements) {
  const Array a = counting({40, 50});
  const Array mask = empty({40, 50}, bool_, cpu);
  auto* mask_bytes = static_cast<bool*>(mask.data());
  for (int i = 0; i < 2000; ++i) mask_bytes[i] = i % 7 == 0 || i > 1990;
  const IndexPart whole[] = {mask};
  Values expected;
  for (int i = 0; i < 2000; ++i)
    if (mask_bytes[i]) expected.push_back(i);
  EXPECT_EQ(values_of(index_by(a, whole)), expected);
  EXPECT_EQ(count_true(mask), static_cast<std::int64_t>(expected.size()));
  const IndexPart transposed[] = {mask.transpose().slice(0, {{}, {}, -1})};
  EXPECT_EQ(index_by(a.transpose().slice(0, {{}, {}, -1}), transposed).size(), count_true(mask));
  assign_by(a, whole, full({}, -1, int32, cpu));
  for (int i = 0; i < 2000; ++i)
    ASSERT_EQ(static_cast<const std::int32_t*>(a.data())[i], mask_bytes[i] ? -1 : i);
}

TEST(Indexing, PositionsOfTrueStayInsideTheMask) {
  for (const std::int64_t size : {1, 7, 8, 9, 511, 512, 513, 70'000}) {
    const Array mask = full({size}, true, bool_, cpu);
    const Array positions = positions_of_true(mask);
    EXPECT_EQ(positions.shape(), (Shape{1, size}));
    static_cast<bool*>(mask.data())[0] = false;
    EXPECT_EQ(positions_of_true(mask).size(), size - 1);
    EXPECT_EQ(positions_of_true(mask.slice(0, {{}, {}, 2})).size(), (size - 1) / 2);
  }
}

TEST(Indexing, LargeReadsAndWritesByThreadsAreComplete) {
  const Array a = counting({300'000});
  const Array indices = empty({400'000}, int64, cpu);
  auto* positions = static_cast<std::int64_t*>(indices.data());
  for (std::int64_t i = 0; i < indices.size(); ++i) positions[i] = (i * 7919) % 300'000;
  const Array taken = take(a, indices, 0, Bounds::raise);
  for (std::int64_t i = 0; i < indices.size(); ++i)
    ASSERT_EQ(static_cast<const std::int32_t*>(taken.data())[i], positions[i]);
  put(a, indices, counting({400'000}), Bounds::raise);
  const std::int64_t last = 399'999;
  EXPECT_EQ(static_cast<const std::int32_t*>(a.data())[positions[last]], last);
}

TEST(Indexing, BoundsWrapAndClip) {
  const Array a = counting({3});
  EXPECT_EQ(values_of(take(a, indices_of({-4, 3, 7}), 0, Bounds::wrap)), (Values{2, 0, 1}));
  EXPECT_EQ(values_of(take(a, indices_of({-4, 3, 7}), 0, Bounds::clip)), (Values{0, 2, 2}));
  EXPECT_THROW(take(counting({0}), indices_of({0}), 0, Bounds::clip), BoundsError);
}

TEST(Repeat, RepeatsEachElementByItsCount) {
  const Array a = counting({5});
  EXPECT_EQ(values_of(repeat(a, indices_of({2, 0, 5, 1, 1}), 0)),
            (Values{0, 0, 2, 2, 2, 2, 2, 3, 4}));
  EXPECT_EQ(values_of(repeat(counting({2, 2}), std::int64_t{2}, 0)),
            (Values{0, 1, 0, 1, 2, 3, 2, 3}));
  EXPECT_THROW(repeat(a, indices_of({1, -1, 1, 1, 1}), 0), ArgumentError);
}

TEST(Join, ConcatenatesEqualSidesOnly) {
  const Array parts[] = {counting({2, 2}), counting({2, 1})};
  EXPECT_EQ(values_of(concatenate(parts, 1, int32)), (Values{0, 1, 0, 2, 3, 1}));
  EXPECT_THROW(concatenate(parts, 0, int32), LayoutError);
}

}  // namespace
}  // namespace spanwise::ops
