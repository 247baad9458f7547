// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "indexing.hpp"

namespace spanwise::ops {

/// An axis of the result that a slice or newaxis left. Strides in elements here and below.
struct PlainAxis {
  std::int64_t extent, stride;
};

/// An index array, int64, and the axis that it goes into. Its values may be negative, and are
/// inside the axis.
struct Indices {
  Array array;  ///< of the positions' shape, broadcast
  std::int64_t extent, stride;
};

/// The elements that an index names. The result has shape plain[:place] + positions +
/// plain[place:], and its element at (b..., p..., a...) is the array's at
///   offset + b . strides + a . strides + sum over indices of stride * value[p] + p . riding.
/// Where a mask stands alone, the positions are those of its true elements instead: offset + m .
/// mask_strides.
struct Selection {
  Array array;  ///< gives storage and dtype; its layout is used up
  std::int64_t offset = 0;
  std::array<PlainAxis, max_rank> plain;  ///< the first `rank` are set
  int rank = 0, place = 0;
  Shape positions;
  Strides riding;
  std::vector<Indices> indices;
  bool unique = false;  ///< surely no element is named twice
  std::optional<Array> mask;
  Strides mask_strides;

  Shape result_shape() const;
  std::byte* data() const noexcept {
    return static_cast<std::byte*>(array.storage().data()) + offset * array.dtype().itemsize();
  }
};

/// What a key names. `writes`: the array will be written, so what overlaps it is copied first.
/// Throws as index_by().
Selection select(const Array& array, std::span<const IndexPart> key, Bounds bounds, bool writes);
/// The same for one index array along one axis, the others riding along (take_along_axis).
Selection select_along(const Array& array, const Array& indices, int axis, bool writes);

}  // namespace spanwise::ops
