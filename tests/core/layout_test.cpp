// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/core/layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <sstream>

#include "spanwise/core/error.hpp"
#include "support/layouts.hpp"

namespace spanwise {
namespace {

using test::huge;
using test::lowest;

using test::Random;

TEST(Layout, RowMajorCountsUpInCOrder) {
  const Layout layout = Layout::row_major({2, 3, 4});
  EXPECT_EQ(layout.strides, (Strides{12, 4, 1}));
  std::vector<std::int64_t> expected(24);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(test::offsets(layout), expected);
  EXPECT_TRUE(layout.is_row_major());
  EXPECT_FALSE(layout.is_column_major());
}

TEST(Layout, ColumnMajorIsRowMajorTransposed) {
  const Layout layout = Layout::column_major({2, 3, 4});
  EXPECT_EQ(layout.strides, (Strides{1, 2, 6}));
  EXPECT_EQ(layout.transpose(), Layout::row_major({4, 3, 2}));
  EXPECT_TRUE(layout.is_column_major());
  EXPECT_FALSE(layout.is_row_major());
}

// numpy.zeros(shape).strides, in elements.
TEST(Layout, StridesOfEmptyShapesMatchNumPy) {
  EXPECT_EQ(Layout::row_major({5, 0}).strides, (Strides{1, 1}));
  EXPECT_EQ(Layout::row_major({0, 5}).strides, (Strides{5, 1}));
  EXPECT_EQ(Layout::column_major({0, 5}).strides, (Strides{1, 1}));
  EXPECT_EQ(Layout::row_major({3, 0, 2}).strides, (Strides{2, 2, 1}));
}

TEST(Layout, ContiguityIgnoresExtentsOfOneAndHoldsForSizeZero) {
  EXPECT_TRUE((Layout{Shape{1, 3}, Strides{-77, 1}, 5}).is_row_major());
  EXPECT_TRUE((Layout{Shape{3, 1}, Strides{1, 99}, 0}).is_row_major());
  EXPECT_TRUE((Layout{Shape{3, 1}, Strides{1, 99}, 0}).is_column_major());
  EXPECT_TRUE((Layout{Shape{4, 0, 4}, Strides{1, 7, 7}, 0}).is_row_major());
  EXPECT_TRUE((Layout{Shape{4, 0, 4}, Strides{1, 7, 7}, 0}).is_column_major());
  EXPECT_TRUE((Layout{}).is_row_major());
  EXPECT_FALSE((Layout{Shape{3}, Strides{2}, 0}).is_row_major());
  EXPECT_FALSE((Layout{Shape{3}, Strides{-1}, 2}).is_row_major());
  EXPECT_FALSE((Layout{Shape{2}, Strides{0}, 0}).is_row_major());
}

TEST(Layout, BadShapesAreRefused) {
  EXPECT_THROW(Layout::row_major({2, -1}), LayoutError);
  EXPECT_THROW(Layout::row_major(Shape(65, 1)), LayoutError);
  EXPECT_NO_THROW(Layout::row_major(Shape(64, 1)));
  EXPECT_THROW(Layout::row_major({huge, 2}), LayoutError);
  EXPECT_THROW(Layout::column_major({std::int64_t{1} << 32, std::int64_t{1} << 31}), LayoutError);
  EXPECT_NO_THROW(Layout::row_major({huge}));
  EXPECT_THROW(Layout::row_major({huge, 0, huge}), LayoutError) << "its strides would not fit";
}

TEST(Layout, SizeOfNoAxesIsOne) {
  EXPECT_EQ(Layout{}.size(), 1);
  EXPECT_EQ(Layout::row_major({3, 0}).size(), 0);
  EXPECT_EQ(Layout{}.offset_range(), (std::pair<std::int64_t, std::int64_t>(0, 0)));
}

TEST(Layout, OffsetRangeIsTheLowestAndHighestOffset) {
  Random random(1);
  for (int round = 0; round < 2000; ++round) {
    const Layout layout = test::with_random_strides(random, test::random_shape(random, 4, 4), 9);
    const auto all = test::offsets(layout);
    const auto [low, high] = layout.offset_range();
    if (all.empty()) {
      EXPECT_EQ(low, 0);
      EXPECT_EQ(high, -1);
    } else {
      EXPECT_EQ(low, *std::min_element(all.begin(), all.end())) << layout;
      EXPECT_EQ(high, *std::max_element(all.begin(), all.end())) << layout;
    }
  }
}

TEST(Layout, OffsetRangeSaturatesInsteadOfWrapping) {
  EXPECT_EQ((Layout{Shape{3}, Strides{huge}, 0}).offset_range().second, huge);
  EXPECT_EQ((Layout{Shape{3}, Strides{lowest}, 0}).offset_range().first, lowest);
  EXPECT_EQ((Layout{Shape{3, 3}, Strides{huge / 2, huge / 2}, 5}).offset_range().second, huge);
  EXPECT_EQ((Layout{Shape{2}, Strides{-2}, lowest}).offset_range().first, lowest);
}

TEST(Layout, OverlapOfItselfIsNeverMissed) {
  Random random(2);
  int disjoint = 0, overlapping = 0;
  for (int round = 0; round < 5000; ++round) {
    const Layout layout = test::with_random_strides(random, test::random_shape(random, 3, 4), 12);
    const auto all = test::offsets(layout);
    const bool overlaps = std::set<std::int64_t>(all.begin(), all.end()).size() != all.size();
    if (overlaps) {
      EXPECT_TRUE(layout.may_overlap_itself()) << layout;
    }
    (overlaps ? overlapping : disjoint)++;
  }
  EXPECT_GT(disjoint, 500);
  EXPECT_GT(overlapping, 300);
}

TEST(Layout, ViewsOfDenseLayoutsDoNotOverlapThemselves) {
  Random random(3);
  for (int round = 0; round < 2000; ++round) {
    const Layout layout = test::with_disjoint_strides(random, test::random_shape(random, 5, 5));
    EXPECT_FALSE(layout.may_overlap_itself()) << layout;
  }
  EXPECT_TRUE((Layout{Shape{2}, Strides{0}, 0}).may_overlap_itself());
  EXPECT_FALSE((Layout{Shape{1}, Strides{0}, 0}).may_overlap_itself());
  EXPECT_FALSE((Layout{Shape{2, 0}, Strides{0, 0}, 0}).may_overlap_itself());
  EXPECT_TRUE((Layout{Shape{3, 3}, Strides{1, 1}, 0}).may_overlap_itself());
  EXPECT_TRUE((Layout{Shape{3, huge}, Strides{lowest, huge}, 0}).may_overlap_itself());
}

TEST(Layout, AxesCountFromTheEndWhereNegative) {
  const Layout layout = Layout::row_major({2, 3, 4});
  EXPECT_EQ(layout.normalise_axis(2), 2);
  EXPECT_EQ(layout.normalise_axis(-1), 2);
  EXPECT_EQ(layout.normalise_axis(-3), 0);
  for (const std::int64_t axis : {std::int64_t{3}, std::int64_t{-4}, huge, lowest})
    EXPECT_THROW(layout.normalise_axis(axis), LayoutError);
  EXPECT_THROW(Layout{}.normalise_axis(0), LayoutError);
}

TEST(Layout, PrintsItsParts) {
  std::ostringstream out;
  out << Layout{Shape{2, 3}, Strides{-3, 1}, 3};
  EXPECT_EQ(out.str(), "shape (2, 3), strides (-3, 1), offset 3");
}

}  // namespace
}  // namespace spanwise
