// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/core/array.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <vector>

#include "spanwise/core/error.hpp"
#include "support/layouts.hpp"
#include "support/message_of.hpp"

namespace spanwise {
namespace {

using test::huge;
using test::lowest;

using test::Random;

// Memory that outlives its arrays.
std::byte* memory() {
  alignas(64) static std::byte bytes[4096];
  return bytes;
}

Storage storage_of(std::size_t bytes, std::byte* data = memory()) {
  return Storage::adopt(data, bytes, cpu, nullptr, nullptr);
}

Array floats(const Shape& shape) {
  const Layout layout = Layout::row_major(shape);
  return Array(storage_of(static_cast<std::size_t>(layout.size()) * 4), layout, float32);
}

std::set<std::uintptr_t> bytes_of(const Array& array) {
  std::set<std::uintptr_t> bytes;
  for (const std::int64_t offset : test::offsets(array.layout()))
    for (int i = 0; i < array.dtype().itemsize(); ++i)
      bytes.insert(reinterpret_cast<std::uintptr_t>(array.storage().data()) +
                   static_cast<std::uintptr_t>(offset * array.dtype().itemsize() + i));
  return bytes;
}

TEST(Array, ByDefaultIsEmpty) {
  const Array array;
  EXPECT_EQ(array.shape(), Shape{0});
  EXPECT_EQ(array.dtype(), float32);
  EXPECT_EQ(array.device(), cpu);
  EXPECT_EQ(array.data(), nullptr);
  EXPECT_EQ(array.nbytes(), 0);
}

TEST(Array, ViewsShareTheStorageAndHaveTheirOwnLayout) {
  const Array base = floats({2, 3, 4});
  const Array view = base.slice(1, {2, 0, -1}).permute(std::vector<int>{2, 0, 1});
  EXPECT_EQ(view.shape(), (Shape{4, 2, 2}));
  EXPECT_EQ(view.strides(), (Strides{1, 12, -4}));
  EXPECT_EQ(view.storage(), base.storage());
  EXPECT_EQ(view.data(), memory() + 2 * 4 * 4);
  EXPECT_EQ(base.storage().use_count(), 2);
}

TEST(Array, UnownedViewsAreNotCounted) {
  const Array base = floats({2, 3});
  Array view = base.lend(base.layout().transpose());
  EXPECT_EQ(view.shape(), (Shape{3, 2}));
  EXPECT_EQ(view.data(), base.data());
  EXPECT_EQ(view.dtype(), float32);
  EXPECT_EQ(base.storage().use_count(), 1);
  view.detach();
  EXPECT_EQ(base.storage().use_count(), 1);
}

TEST(Array, CopyingSharesTheStorage) {
  const Array base = floats({2});
  const Array copy = base;  // NOLINT(performance-unnecessary-copy-initialization): it is the test
  EXPECT_EQ(copy.data(), base.data());
  EXPECT_EQ(copy.storage(), base.storage());
}

TEST(Array, LayoutOutsideTheStorageThrows) {
  const Storage storage = storage_of(40);  // ten floats
  const auto make = [&](Layout layout) { return Array(storage, std::move(layout), float32); };
  EXPECT_NO_THROW(make({Shape{10}, Strides{1}, 0}));
  EXPECT_THROW(make({Shape{11}, Strides{1}, 0}), LayoutError);
  EXPECT_THROW(make({Shape{10}, Strides{1}, 1}), LayoutError);
  EXPECT_THROW(make({Shape{1}, Strides{1}, -1}), LayoutError);
  EXPECT_NO_THROW(make({Shape{10}, Strides{-1}, 9}));
  EXPECT_THROW(make({Shape{10}, Strides{-1}, 8}), LayoutError);
  EXPECT_NO_THROW(make({Shape{4}, Strides{3}, 0}));
  EXPECT_THROW(make({Shape{4}, Strides{3}, 1}), LayoutError);
  EXPECT_NO_THROW(make({Shape{2, 5}, Strides{0, 2}, 1}));
  EXPECT_THROW(make({Shape{2, 5}, Strides{1, 2}, 1}), LayoutError);
  EXPECT_THROW(Array(storage_of(39), Layout{Shape{10}, Strides{1}, 0}, float32), LayoutError);
}

TEST(Array, LayoutsThatOverflowAreRefused) {
  const Storage storage = storage_of(40);
  for (const Layout& layout :
       {Layout{Shape{3}, Strides{huge}, 0}, Layout{Shape{3}, Strides{huge}, lowest},
        Layout{Shape{2}, Strides{lowest}, huge}, Layout{Shape{huge}, Strides{1}, 0},
        Layout{Shape{huge, 2}, Strides{0, 0}, 0}, Layout{Shape{}, Strides{}, huge},
        Layout{Shape{3, 3}, Strides{huge, -huge}, 0}, Layout{Shape{-1}, Strides{1}, 0},
        Layout{Shape{2, 2}, Strides{1}, 0}, Layout{Shape{0}, Strides{1}, huge},
        Layout{Shape{0}, Strides{1}, -1}})
    for (const DType dtype : {uint8, float32, complex128})
      EXPECT_THROW(Array(storage, layout, dtype), LayoutError) << layout << ' ' << dtype;
}

TEST(Array, BoundsErrorGivesReachAndSize) {
  EXPECT_THAT(
      test::message_of<LayoutError>(
          [&] { const Array array(storage_of(40), Layout{Shape{11}, Strides{1}, 0}, float32); }),
      ::testing::AllOf(::testing::HasSubstr("0 to 10"), ::testing::HasSubstr("expected 0 to 9"),
                       ::testing::HasSubstr("40 bytes")));
}

TEST(Array, SizeZeroNeedsNoMemory) {
  EXPECT_NO_THROW(Array(Storage{}, Layout::row_major({3, 0}), float64));
  const Array none = Array(Storage{}, Layout::row_major({3, 0}), float64).index(0, 2);
  EXPECT_EQ(none.data(), nullptr);
  EXPECT_EQ(none.shape(), Shape{0});
}

TEST(Array, NoAxesIsOneElement) {
  const Array scalar(storage_of(8), Layout{Shape{}, Strides{}, 1}, float32);
  EXPECT_EQ(scalar.size(), 1);
  EXPECT_EQ(scalar.rank(), 0);
  EXPECT_EQ(scalar.nbytes(), 4);
  EXPECT_EQ(scalar.data(), memory() + 4);
}

TEST(Array, NbytesOfAHugeBroadcastSaturates) {
  const Array one = floats({1});
  EXPECT_EQ(one.broadcast_to({std::int64_t{1} << 62}).nbytes(), huge);
  EXPECT_EQ(one.broadcast_to({1000}).nbytes(), 4000);
}

TEST(Array, ViewsOfReadOnlyArraysAreReadOnly) {
  const Array readonly = floats({2, 3}).as_readonly();
  EXPECT_TRUE(readonly.readonly());
  EXPECT_TRUE(readonly.transpose().readonly());
  EXPECT_TRUE(readonly.index(0, 1).expand(0).readonly());
  EXPECT_TRUE(readonly.try_reshape({6})->readonly());
  EXPECT_TRUE(readonly.reinterpret(uint8).readonly());
  EXPECT_TRUE(readonly.with_layout(Layout::row_major({2})).readonly());
}

TEST(Array, ReshapesWithoutACopyOrNotAtAll) {
  const Array base = floats({2, 3});
  const std::optional<Array> flat = base.try_reshape({-1});
  ASSERT_TRUE(flat);
  EXPECT_EQ(flat->shape(), Shape{6});
  EXPECT_EQ(flat->data(), base.data());
  EXPECT_FALSE(base.transpose().try_reshape({6}));
}

TEST(Array, ReinterpretReadsTheSameBytes) {
  const Array base = floats({2, 4}).slice(0, {1, 2, 1});
  const Array wide = base.reinterpret(complex64);
  EXPECT_EQ(wide.shape(), (Shape{1, 2}));
  EXPECT_EQ(wide.data(), base.data());
  EXPECT_EQ(bytes_of(wide), bytes_of(base));
  EXPECT_EQ(base.reinterpret(int32).strides(), base.strides());
  EXPECT_THROW(floats({2, 4}).transpose().reinterpret(uint8), LayoutError);
}

TEST(Array, ReinterpretAllowsAnyAlignmentOnTheHost) {
  const Array bytes = floats({2, 6}).reinterpret(uint8);
  const Array odd = bytes.slice(1, {3, 19, 1});
  const Array view = odd.reinterpret(float64);
  EXPECT_EQ(view.shape(), (Shape{2, 2}));
  EXPECT_EQ(view.data(), odd.data());
  EXPECT_EQ(bytes_of(view), bytes_of(odd));
  EXPECT_EQ(&view.storage().uses(), &bytes.storage().uses());
  EXPECT_NE(view.storage(), bytes.storage());
  EXPECT_EQ(view.slice(0, {1, 2, 1}).data(), odd.slice(0, {1, 2, 1}).data());
  EXPECT_EQ(view.as_readonly().data(), view.data());
  const Array back = view.reinterpret(uint8);
  EXPECT_EQ(back.layout(), odd.layout());
  EXPECT_EQ(back.storage(), bytes.storage());
  Array unowned = view.lend(Layout(view.layout()));
  EXPECT_EQ(unowned.data(), view.data());
  unowned.detach();
}

TEST(Array, PrintsInOneLine) {
  std::ostringstream out;
  out << floats({2, 3}) << '|' << floats({3}).as_readonly();
  EXPECT_EQ(out.str(),
            "float32 (2, 3) on cpu, strides (12, 4)|float32 (3,) on cpu, strides (4,), read-only");
}

TEST(MayShareMemory, NeverMissesACommonByte) {
  Random random(1);
  const std::vector<DType> dtypes{uint8, int16, float32, float64};
  int sharing = 0, apart = 0, exact_negatives = 0;
  for (int round = 0; round < 20000; ++round) {
    const auto window = [&] {
      const DType dtype = dtypes[static_cast<std::size_t>(test::between(random, 0, 3))];
      const Layout layout = test::with_random_strides(random, test::random_shape(random, 2, 4), 6);
      // Two imports of one memory begin at different bytes of it.
      std::byte* data = memory() + 8 * test::between(random, 0, 20);
      return Array(storage_of(1024, data), layout, dtype);
    };
    const Array a = window(), b = window();
    const auto of_a = bytes_of(a), of_b = bytes_of(b);
    const bool common =
        std::any_of(of_a.begin(), of_a.end(), [&](auto byte) { return of_b.count(byte) != 0; });
    const bool answer = may_share_memory(a, b);
    EXPECT_EQ(answer, may_share_memory(b, a));
    if (common) {
      ASSERT_TRUE(answer) << a << " and " << b;
    }
    (common ? sharing : apart)++;
    exact_negatives += !common && !answer;
  }
  EXPECT_GT(sharing, 1000);
  EXPECT_GT(apart, 1000);
  EXPECT_GT(exact_negatives, apart / 2);
}

TEST(MayShareMemory, DistinguishesInterleavedViews) {
  const Array image = floats({4, 5, 3});
  EXPECT_FALSE(may_share_memory(image.index(2, 0), image.index(2, 1)));
  EXPECT_FALSE(may_share_memory(image.index(2, 2),
                                image.index(2, 0).slice(1, {std::nullopt, std::nullopt, -1})));
  EXPECT_TRUE(may_share_memory(image.index(2, 1), image));
  const Array line = floats({16});
  EXPECT_FALSE(may_share_memory(line.slice(0, {0, {}, 2}), line.slice(0, {1, {}, 2})));
  EXPECT_TRUE(may_share_memory(line.slice(0, {0, {}, 2}), line.slice(0, {2, {}, 2})));
  EXPECT_FALSE(may_share_memory(line.slice(0, {0, {}, 4}),
                                line.slice(0, {1, {}, 4}).broadcast_to({2, 4}).reinterpret(int32)));
}

TEST(MayShareMemory, IsFalseWithoutElements) {
  const Array line = floats({16});
  EXPECT_FALSE(may_share_memory(line, line.slice(0, {4, 4, 1})));
  EXPECT_FALSE(may_share_memory(Array{}, Array{}));
  EXPECT_TRUE(may_share_memory(line, line));
}

}  // namespace
}  // namespace spanwise
