// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "spanwise/core/layout.hpp"

/// The meaning of layouts, computed index by index, as a reference for tests.
namespace spanwise::test {

using Index = std::vector<std::int64_t>;

/// Calls f(index) for every index of `shape` in C order.
template <class F>
void for_each_index(const Shape& shape, F&& f) {
  Index index(static_cast<std::size_t>(shape.size()), 0);
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return;
  for (;;) {
    f(static_cast<const Index&>(index));
    int axis = shape.size() - 1;
    for (; axis >= 0; --axis) {
      std::int64_t& i = index[static_cast<std::size_t>(axis)];
      if (++i < shape[axis]) break;
      i = 0;
    }
    if (axis < 0) return;
  }
}

inline std::int64_t offset_of(const Layout& layout, const Index& index) {
  std::int64_t offset = layout.offset;
  for (int axis = 0; axis < layout.rank(); ++axis)
    offset += index[static_cast<std::size_t>(axis)] * layout.strides[axis];
  return offset;
}

/// The element offsets of all indices in C order.
inline std::vector<std::int64_t> offsets(const Layout& layout) {
  std::vector<std::int64_t> all;
  for_each_index(layout.shape,
                 [&](const Index& index) { all.push_back(offset_of(layout, index)); });
  return all;
}

using Random = std::mt19937_64;

/// Extreme values of extents, strides and indices.
inline constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();
inline constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();

inline std::int64_t between(Random& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

/// Up to `rank` axes of up to `extent` elements.
inline Shape random_shape(Random& random, int rank, std::int64_t extent,
                          std::int64_t min_extent = 0) {
  Shape shape(static_cast<int>(between(random, 0, rank)));
  for (std::int64_t& each : shape) each = between(random, min_extent, extent);
  return shape;
}

/// Strides from -step to step, with zeros and overlaps; moved so that the lowest offset is small
/// and not negative.
inline Layout with_random_strides(Random& random, const Shape& shape, std::int64_t step) {
  Layout layout{shape, Strides(shape.size()), 0};
  std::int64_t min_offset = 0;
  for (int axis = 0; axis < shape.size(); ++axis) {
    layout.strides[axis] = between(random, -step, step);
    if (shape[axis] > 0)
      min_offset += std::min<std::int64_t>(0, (shape[axis] - 1) * layout.strides[axis]);
  }
  layout.offset = between(random, 0, 3) - min_offset;
  return layout;
}

/// Strides without overlap: permuted axes, some reversed, with gaps.
inline Layout with_disjoint_strides(Random& random, const Shape& shape) {
  std::vector<int> order(static_cast<std::size_t>(shape.size()));
  for (int axis = 0; axis < shape.size(); ++axis) order[static_cast<std::size_t>(axis)] = axis;
  if (between(random, 0, 1) == 1) std::shuffle(order.begin(), order.end(), random);
  Layout layout{shape, Strides(shape.size()), between(random, 0, 2)};
  std::int64_t step = between(random, 1, 2);
  for (auto axis = order.rbegin(); axis != order.rend(); ++axis) {
    const std::int64_t extent = std::max<std::int64_t>(shape[*axis], 1);
    const bool backwards = between(random, 0, 3) == 0;
    layout.strides[*axis] = backwards ? -step : step;
    if (backwards) layout.offset += (extent - 1) * step;
    step *= extent + (between(random, 0, 3) == 0 ? between(random, 1, 2) : 0);
  }
  return layout;
}

}  // namespace spanwise::test
