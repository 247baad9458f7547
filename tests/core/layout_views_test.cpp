// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "spanwise/core/error.hpp"
#include "spanwise/core/layout.hpp"
#include "support/layouts.hpp"
#include "support/message_of.hpp"

namespace spanwise {
namespace {

using test::huge;
using test::lowest;

using test::for_each_index;
using test::Index;
using test::offset_of;
using test::Random;

Layout random_layout(Random& random, int rank = 4, std::int64_t extent = 5) {
  return test::with_random_strides(random, test::random_shape(random, rank, extent), 20);
}

// Each element of `view` is the one of `base` at origin(index).
template <class F>
void expect_view(const Layout& view, const Layout& base, F&& origin) {
  for_each_index(view.shape, [&](const Index& index) {
    ASSERT_EQ(offset_of(view, index), offset_of(base, origin(index))) << view << " of " << base;
  });
}

// The indices that a Python slice selects of n elements, by iteration (The Python Language
// Reference, 6.3.3, and the notes on s[i:j:k] in "Common Sequence Operations"). In 128 bits, which
// do not overflow.
std::vector<std::int64_t> slice_indices(const Slice& slice, std::int64_t n) {
  using Wide = __int128;
  const Wide step = slice.step.value_or(1);
  const auto bound = [&](std::optional<std::int64_t> value, Wide default_value) {
    if (!value) return default_value;
    const Wide i = *value < 0 ? Wide{*value} + n : Wide{*value};
    const Wide least = step < 0 ? -1 : 0, most = step < 0 ? Wide{n} - 1 : Wide{n};
    return i < least ? least : i > most ? most : i;
  };
  const Wide start = bound(slice.start, step < 0 ? Wide{n} - 1 : 0);
  const Wide stop = bound(slice.stop, step < 0 ? -1 : Wide{n});
  std::vector<std::int64_t> indices;
  for (Wide i = start; step < 0 ? i > stop : i < stop; i += step)
    indices.push_back(static_cast<std::int64_t>(i));
  return indices;
}

std::optional<std::int64_t> random_bound(Random& random) {
  switch (test::between(random, 0, 9)) {
    case 0:
      return std::nullopt;
    case 1:
      return huge - test::between(random, 0, 2);
    case 2:
      return lowest + test::between(random, 0, 2);
    default:
      return test::between(random, -8, 8);
  }
}

TEST(LayoutIndex, SelectsOneElementOfAnAxis) {
  Random random(1);
  for (int round = 0; round < 2000; ++round) {
    const Layout base = random_layout(random);
    if (base.rank() == 0) continue;
    const int axis = static_cast<int>(test::between(random, 0, base.rank() - 1));
    const std::int64_t n = base.shape[axis];
    if (n == 0) continue;
    const std::int64_t i = test::between(random, -n, n - 1);
    const Layout view = base.index(test::between(random, 0, 1) == 0 ? axis : axis - base.rank(), i);
    EXPECT_EQ(view.shape, base.shape.erased(axis));
    expect_view(view, base, [&](Index index) {
      index.insert(index.begin() + axis, i < 0 ? i + n : i);
      return index;
    });
  }
}

TEST(LayoutIndex, BoundsErrorGivesTheValidRange) {
  const Layout layout = Layout::row_major({2, 3});
  for (const std::int64_t i : {std::int64_t{3}, std::int64_t{-4}, huge, lowest}) {
    EXPECT_THAT(test::message_of<BoundsError>([&] { (void)layout.index(1, i); }),
                ::testing::HasSubstr("-3 to 2"));
  }
  EXPECT_THROW(Layout::row_major({0}).index(0, 0), BoundsError);
  EXPECT_THROW(layout.index(2, 0), LayoutError);
}

TEST(LayoutSlice, MatchesPython) {
  Random random(2);
  for (int round = 0; round < 20000; ++round) {
    const Layout base = random_layout(random, 3);
    if (base.rank() == 0) continue;
    const int axis = static_cast<int>(test::between(random, 0, base.rank() - 1));
    Slice slice{random_bound(random), random_bound(random), random_bound(random)};
    if (slice.step == 0) slice.step = -1;
    const auto taken = slice_indices(slice, base.shape[axis]);
    const Layout view = base.slice(axis, slice);
    ASSERT_EQ(view.shape[axis], static_cast<std::int64_t>(taken.size()));
    expect_view(view, base, [&](Index index) {
      std::int64_t& i = index[static_cast<std::size_t>(axis)];
      i = taken[static_cast<std::size_t>(i)];
      return index;
    });
  }
}

TEST(LayoutSlice, EmptyResultKeepsTheOffset) {
  const Layout base = Layout::row_major({5, 4});
  EXPECT_EQ(base.slice(0, {5, 9, 1}).offset, 0);
  EXPECT_EQ(base.slice(0, {3, 3, 1}).offset, 0);
  EXPECT_EQ(base.slice(0, {3, 3, 1}).shape, (Shape{0, 4}));
}

TEST(LayoutSlice, StepZeroIsRefused) {
  EXPECT_THROW(Layout::row_major({5}).slice(0, {0, 5, 0}), ArgumentError);
}

TEST(LayoutExpand, AddsAnAxisAnywhere) {
  const Layout base = Layout::row_major({2, 3});
  for (int axis = -3; axis <= 2; ++axis) {
    const int position = axis < 0 ? axis + 3 : axis;
    const Layout view = base.expand(axis);
    EXPECT_EQ(view.shape, base.shape.inserted(position, 1));
    EXPECT_EQ(view.squeeze(position), base);
  }
  EXPECT_THROW(base.expand(3), LayoutError);
  EXPECT_THROW(base.expand(-4), LayoutError);
  EXPECT_THROW(Layout::row_major(Shape(64, 1)).expand(0), LayoutError);
}

TEST(LayoutSqueeze, RequiresExtentsOfOne) {
  const Layout base = Layout::row_major({2, 1, 3});
  EXPECT_EQ(base.squeeze(1).shape, (Shape{2, 3}));
  EXPECT_EQ(base.squeeze(-2).shape, (Shape{2, 3}));
  EXPECT_THROW(base.squeeze(0), LayoutError);
}

TEST(LayoutPermute, MovesAxes) {
  Random random(3);
  for (int round = 0; round < 2000; ++round) {
    const Layout base = random_layout(random, 5, 3);
    std::vector<int> axes(static_cast<std::size_t>(base.rank()));
    std::iota(axes.begin(), axes.end(), 0);
    std::shuffle(axes.begin(), axes.end(), random);
    std::vector<int> signed_axes = axes;
    for (int& axis : signed_axes)
      if (test::between(random, 0, 1) == 1) axis -= base.rank();
    expect_view(base.permute(signed_axes), base, [&](const Index& index) {
      Index origin(index.size());
      for (std::size_t i = 0; i < index.size(); ++i)
        origin[static_cast<std::size_t>(axes[i])] = index[i];
      return origin;
    });
  }
}

TEST(LayoutPermute, RefusesInvalidPermutations) {
  const Layout base = Layout::row_major({2, 3});
  for (const std::vector<int>& axes : {std::vector<int>{0}, {0, 0}, {0, 2}, {0, 1, 1}, {1, -1}, {}})
    EXPECT_THROW(base.permute(axes), LayoutError);
}

TEST(LayoutTranspose, ReversesTheAxes) {
  const Layout base = Layout::row_major({2, 3, 4});
  const Layout view = base.transpose();
  EXPECT_EQ(view.shape, (Shape{4, 3, 2}));
  EXPECT_EQ(view.strides, (Strides{1, 4, 12}));
  EXPECT_EQ(view.transpose(), base);
}

TEST(LayoutBroadcast, RepeatsExtentsOfOne) {
  Random random(4);
  for (int round = 0; round < 2000; ++round) {
    const Layout base = random_layout(random, 3, 3);
    Shape target = base.shape;
    for (std::int64_t& extent : target)
      if (extent == 1) extent = test::between(random, 0, 3);
    const int added = static_cast<int>(test::between(random, 0, 2));
    for (int i = 0; i < added; ++i) target = target.inserted(0, test::between(random, 0, 3));
    const Layout view = base.broadcast_to(target);
    EXPECT_EQ(view.shape, target);
    expect_view(view, base, [&](Index index) {
      index.erase(index.begin(), index.begin() + added);
      for (int axis = 0; axis < base.rank(); ++axis)
        if (base.shape[axis] == 1) index[static_cast<std::size_t>(axis)] = 0;
      return index;
    });
  }
}

TEST(LayoutBroadcast, RefusesIncompatibleExtents) {
  const Layout base = Layout::row_major({2, 3});
  EXPECT_THROW(base.broadcast_to({2, 4}), LayoutError);
  EXPECT_THROW(base.broadcast_to({3}), LayoutError);
  EXPECT_THROW(base.broadcast_to({3, 2}), LayoutError);
  EXPECT_THROW(base.broadcast_to({0, 3}), LayoutError);
  EXPECT_THROW(base.broadcast_to({-1, 2, 3}), LayoutError);
  EXPECT_THROW(Layout::row_major({1}).broadcast_to({huge, huge}), LayoutError);
}

TEST(LayoutDiagonal, WalksBothAxesAtOnce) {
  Random random(5);
  for (int round = 0; round < 5000; ++round) {
    const Layout base = random_layout(random, 4);
    if (base.rank() < 2) continue;
    const int axis1 = static_cast<int>(test::between(random, 0, base.rank() - 1));
    const int axis2 =
        static_cast<int>((axis1 + test::between(random, 1, base.rank() - 1)) % base.rank());
    const std::int64_t k = test::between(random, -6, 6);
    const std::int64_t row = std::max<std::int64_t>(-k, 0), column = std::max<std::int64_t>(k, 0);
    std::int64_t extent = 0;
    while (row + extent < base.shape[axis1] && column + extent < base.shape[axis2]) ++extent;
    const Layout view = base.diagonal(k, axis1, axis2 - base.rank());
    ASSERT_EQ(view.rank(), base.rank() - 1);
    ASSERT_EQ(view.shape.back(), extent);
    expect_view(view, base, [&](const Index& index) {
      Index origin(index.size() + 1);
      std::size_t next = 0;
      for (int axis = 0; axis < base.rank(); ++axis) {
        auto& i = origin[static_cast<std::size_t>(axis)];
        i = axis == axis1   ? row + index.back()
            : axis == axis2 ? column + index.back()
                            : index[next++];
      }
      return origin;
    });
  }
}

TEST(LayoutDiagonal, RefusesEqualAxesAndTooFew) {
  EXPECT_THROW(Layout::row_major({3}).diagonal(0, 0, 1), LayoutError);
  EXPECT_THROW(Layout::row_major({3, 3}).diagonal(0, 1, -1), LayoutError);
  EXPECT_EQ(Layout::row_major({3, 3}).diagonal(huge, 0, 1).shape, Shape{0});
  EXPECT_EQ(Layout::row_major({3, 3}).diagonal(lowest, 0, 1).shape, Shape{0});
}

TEST(BroadcastShapes, MatchesNumPy) {
  const auto common = [](std::initializer_list<Shape> shapes) {
    return broadcast_shapes(std::span(shapes.begin(), shapes.size()));
  };
  EXPECT_EQ(common({}), Shape{});
  EXPECT_EQ(common({{2, 3}, {3}, {}}), (Shape{2, 3}));
  EXPECT_EQ(common({{5, 1, 4}, {3, 1}}), (Shape{5, 3, 4}));
  EXPECT_EQ(common({{0}, {1}}), (Shape{0}));
  EXPECT_EQ(common({{1}, {2, 0}}), (Shape{2, 0}));
  EXPECT_THROW(common({{2}, {3}}), LayoutError);
  EXPECT_THROW(common({{0}, {2}}), LayoutError);
  EXPECT_THROW(common({{huge, 1}, {1, huge}}), LayoutError);
}

}  // namespace
}  // namespace spanwise
