// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "indexing.hpp"
#include "selection.hpp"
#include "spanwise/core/device_table.hpp"

namespace spanwise::ops {

/// What a back end implements for index arrays, masks and searches. All arrays of a call are on its
/// device; work on a GPU is queued on the current stream.
struct IndexingBackend {
  bool takes_masks;    ///< move() and accumulate() take a Selection::mask, not only index arrays
  bool needs_aligned;  ///< accumulate() needs the array and the value aligned to their elements
  /// Moves the selected elements to (read) or from (write) `value`, an array of the result's shape
  /// and the array's dtype that shares no memory with the array. An element that is selected
  /// repeatedly gets the last value in C order.
  void (*move)(const Selection& selection, const Array& value, MoveDirection direction);
  /// accumulate_by() for a value as that of move().
  void (*accumulate)(const Selection& selection, const Array& value, Accumulation how);
  /// One of the `indices` (int64, aligned) outside [-extent, extent), the first on the CPU; nothing
  /// if all are inside. Waits.
  std::optional<std::int64_t> (*find_outside)(const Array& indices, std::int64_t extent);
  /// The indices mapped to [0, extent) by `bounds` (wrap or clip).
  Array (*apply_bounds)(const Array& indices, std::int64_t extent, Bounds bounds);
  /// count_true() and positions_of_true() of a bool array.
  std::int64_t (*count_true)(const Array& mask);
  Array (*positions_of_true)(const Array& mask);
  /// search_sorted() for aligned C-contiguous arrays of one dtype, which is not bool or a 16-bit
  /// float, and at least one element each.
  void (*search)(const Array& sorted, const Array& values, Side side, const Array& positions);
};

extern DeviceTable<IndexingBackend> indexing_backends;

}  // namespace spanwise::ops
