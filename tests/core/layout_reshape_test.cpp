// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "spanwise/core/error.hpp"
#include "spanwise/core/layout.hpp"
#include "support/layouts.hpp"
#include "support/message_of.hpp"

namespace spanwise {
namespace {

using test::huge;

using test::offsets;
using test::Random;

// A random shape of the given size.
Shape random_factors(Random& random, std::int64_t size) {
  std::vector<std::int64_t> factors;
  while (size > 1) {
    std::int64_t factor = test::between(random, 1, size);
    while (size % factor != 0) --factor;
    factors.push_back(factor);
    size /= factor;
  }
  if (test::between(random, 0, 2) == 0) factors.insert(factors.begin(), 1);
  return Shape(std::span<const std::int64_t>(factors));
}

// The layout of `shape` with these offsets, or nothing if strides cannot represent them.
std::optional<Layout> layout_with_offsets(const Shape& shape,
                                          const std::vector<std::int64_t>& expected) {
  Layout layout{shape, Strides(shape.size()), expected.front()};
  std::int64_t step = 1;
  for (int axis = shape.size() - 1; axis >= 0; --axis) {
    if (shape[axis] > 1)
      layout.strides[axis] = expected[static_cast<std::size_t>(step)] - expected.front();
    step *= shape[axis];
  }
  return offsets(layout) == expected ? std::optional(layout) : std::nullopt;
}

TEST(LayoutReshape, IsAViewExactlyWhereStridesCanRepresentIt) {
  Random random(1);
  int views = 0, copies = 0;
  for (int round = 0; round < 20000; ++round) {
    const Shape shape = test::random_shape(random, 4, 6, /*min_extent=*/1);
    const Layout base = round % 2 == 0 ? test::with_disjoint_strides(random, shape)
                                       : test::with_random_strides(random, shape, 3);
    const Shape target = random_factors(random, base.size());
    const auto expected = offsets(base);
    const std::optional<Layout> view = base.reshape(target);
    ASSERT_EQ(view.has_value(), layout_with_offsets(target, expected).has_value())
        << base << " to " << target;
    if (view) {
      EXPECT_EQ(view->shape, target);
      ASSERT_EQ(offsets(*view), expected) << base << " to " << target;
    }
    (view ? views : copies)++;
  }
  EXPECT_GT(views, 2000);
  EXPECT_GT(copies, 2000);
}

TEST(LayoutReshape, ContiguousIsAlwaysAView) {
  Layout base = Layout::row_major({4, 6});
  base.offset = 7;
  const std::optional<Layout> view = base.reshape({2, -1, 3});
  ASSERT_TRUE(view);
  EXPECT_EQ(*view, (Layout{Shape{2, 4, 3}, Strides{12, 3, 1}, 7}));
}

TEST(LayoutReshape, TransposedToFlatNeedsACopy) {
  EXPECT_FALSE(Layout::row_major({2, 3}).transpose().reshape({6}));
}

TEST(LayoutReshape, SizeZeroAndOneAreAlwaysViews) {
  EXPECT_EQ(Layout::row_major({0, 3}).transpose().reshape({5, 0})->shape, (Shape{5, 0}));
  EXPECT_EQ(Layout::row_major({0}).reshape({-1, 4})->shape, (Shape{0, 4}));
  EXPECT_EQ((Layout{Shape{1, 1}, Strides{9, -5}, 4}).reshape({})->offset, 4);
  EXPECT_EQ((Layout{Shape{}, Strides{}, 4}).reshape({1, 1})->offset, 4);
}

TEST(LayoutReshape, SplitBroadcastAxesStayViews) {
  const Layout base = Layout::row_major({1}).broadcast_to({6, 4});
  const std::optional<Layout> view = base.reshape({3, 8});
  ASSERT_TRUE(view);
  EXPECT_EQ(view->strides, (Strides{0, 0}));
}

TEST(LayoutReshape, ErrorForAnotherSizeNamesBothSizes) {
  EXPECT_THAT(test::message_of<LayoutError>([&] { (void)Layout::row_major({2, 3}).reshape({4}); }),
              ::testing::AllOf(::testing::HasSubstr("6 elements"), ::testing::HasSubstr("(4,)")));
}

TEST(ResolveShape, FillsOneUnknown) {
  EXPECT_EQ(resolve_shape({-1}, 6), Shape{6});
  EXPECT_EQ(resolve_shape({2, -1}, 6), (Shape{2, 3}));
  EXPECT_EQ(resolve_shape({}, 1), Shape{});
  EXPECT_EQ(resolve_shape({-1, 3}, 0), (Shape{0, 3}));
  EXPECT_THROW(resolve_shape({-1, 0}, 0), LayoutError);
  EXPECT_THROW(resolve_shape({-1, 4}, 6), LayoutError);
  EXPECT_THROW(resolve_shape({-1, -1}, 6), LayoutError);
  EXPECT_THROW(resolve_shape({-2, -3}, 6), LayoutError);
  EXPECT_THROW(resolve_shape({}, 2), LayoutError);
  EXPECT_THROW(resolve_shape({huge, huge}, 1), LayoutError);
  EXPECT_THROW(resolve_shape({huge, huge, -1}, 0), LayoutError);
}

// The byte offsets that a layout touches, element by element.
std::vector<std::int64_t> byte_offsets(const Layout& layout, int itemsize) {
  std::vector<std::int64_t> bytes;
  for (const std::int64_t offset : offsets(layout))
    for (int i = 0; i < itemsize; ++i) bytes.push_back(offset * itemsize + i);
  return bytes;
}

TEST(LayoutReinterpret, TouchesTheSameBytesInTheSameOrder) {
  Random random(2);
  int views = 0;
  for (int round = 0; round < 10000; ++round) {
    Layout base = test::with_random_strides(random, test::random_shape(random, 3, 8), 16);
    if (base.rank() > 0 && round % 4 != 0) base.strides[base.rank() - 1] = 1;
    const int from = 1 << test::between(random, 0, 3), to = 1 << test::between(random, 0, 3);
    std::optional<Layout> view;
    try {
      view = base.reinterpret(from, to);
    } catch (const LayoutError&) {
      continue;
    }
    ++views;
    ASSERT_EQ(byte_offsets(*view, to), byte_offsets(base, from))
        << base << ' ' << from << " to " << to;
  }
  EXPECT_GT(views, 3000);
}

TEST(LayoutReinterpret, ChangesTheLastAxisOnly) {
  const Layout base = Layout::row_major({3, 4});
  EXPECT_EQ(base.reinterpret(4, 8), (Layout{Shape{3, 2}, Strides{2, 1}, 0}));
  EXPECT_EQ(base.reinterpret(4, 2), (Layout{Shape{3, 8}, Strides{8, 1}, 0}));
  EXPECT_EQ(base.transpose().reinterpret(4, 4), base.transpose());
}

TEST(LayoutReinterpret, RefusesTheSameAsNumPy) {
  EXPECT_THROW(Layout{}.reinterpret(4, 8), LayoutError);
  EXPECT_THROW(Layout::row_major({3, 3}).reinterpret(4, 8), LayoutError);
  EXPECT_THROW(Layout::row_major({4, 4}).transpose().reinterpret(4, 8), LayoutError);
  EXPECT_THROW(Layout::row_major({4}).reinterpret(4, 3), LayoutError);
  EXPECT_THROW(Layout::row_major({8}).slice(0, {1, 5, 1}).reinterpret(4, 8), LayoutError)
      << "an odd offset";
  EXPECT_THROW(Layout::row_major({4, 5}).slice(1, {0, 4, 1}).reinterpret(4, 8), LayoutError)
      << "odd rows";
}

}  // namespace
}  // namespace spanwise
