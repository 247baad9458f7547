// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "indexing.hpp"
#include "spanwise/core/device_table.hpp"

namespace spanwise::ops {

enum class MoveDirection { read, write };

/// An axis of the result that comes from a slice, an Ellipsis or newaxis. Strides in elements here
/// and below.
struct BasicAxis {
  std::int64_t extent, stride;
};

/// An int64 index array and the axis it indexes; all values are in [-extent, extent).
struct IndexArray {
  Array array;  ///< of the positions' shape, broadcast
  std::int64_t extent, stride;
};

/// The elements that an index selects. The result has shape basic[:index_axis] + positions +
/// basic[index_axis:]; its element at (b..., p..., a...) is the array's element at
///   offset + b . strides + a . strides + sum over indices of stride * value[p]
///          + p . position_strides.
/// For an index with a single mask and no index array, `mask` is set instead of `indices`:
/// positions are the indices m of its true elements, at offset + m . mask_strides.
struct Selection {
  Array array;  ///< for storage and dtype; its layout does not apply
  std::int64_t offset = 0;
  std::array<BasicAxis, max_rank> basic;  ///< the first `rank` are set
  int rank = 0, index_axis = 0;
  Shape positions;
  Strides position_strides;
  std::vector<IndexArray> indices;
  bool unique = false;  ///< no element is selected twice
  std::optional<Array> mask;
  Strides mask_strides;

  Shape result_shape() const;
  std::byte* data() const noexcept {
    return static_cast<std::byte*>(array.storage().data()) + offset * array.dtype().itemsize();
  }
};

/// The selection of a key. `writes`: the array will be written, so index arrays that overlap it are
/// copied. Throws what index_by() throws.
Selection select(const Array& array, std::span<const IndexPart> key, Bounds bounds, bool writes);
/// The view that integers, slices, new axes and an Ellipsis select. Throws BoundsError.
Array view_by(const Array& array, std::span<const IndexPart> key);
/// select() for take_along_axis: one index array along one axis; the position along the other axes
/// is also the index into them.
Selection select_along(const Array& array, const Array& indices, int axis, bool writes);

/// The indices as int64 on the device of `target`, each in [-extent, extent) after `bounds` is
/// applied. With Bounds::raise, throws BoundsError for others; waits for the current stream then if
/// the indices are on a GPU.
Array usable_indices(const Array& indices, std::int64_t extent, int axis, const Shape& shape,
                     Bounds bounds, const Array& target, bool target_is_written);
/// `index` on the device of `target`; a copy if `target` will be written and shares its memory.
Array on_device_of(const Array& index, const Array& target, bool target_is_written);

/// What a back end implements for index arrays, masks and searches. All arrays of a call are on its
/// device; work on a GPU is queued on the current stream.
struct IndexingBackend {
  bool takes_masks;    ///< move() and accumulate() take a Selection::mask, not only index arrays
  bool needs_aligned;  ///< accumulate() needs the array and the value aligned to their elements
  /// Moves the selected elements to (read) or from (write) `value`, an array of the result's shape
  /// and the array's dtype that shares no memory with the array. An element that is selected
  /// repeatedly gets the last value in C order.
  void (*move)(const Selection& selection, const Array& value, MoveDirection direction);
  /// target[mask] = value in one pass, which does not wait for the number of true elements: all
  /// have the target's shape, value and mask by strides of 0, or the value is a number on the host;
  /// the value has the target's dtype, shares no memory with it, and all are aligned. Null where
  /// move() is as fast.
  void (*fill_masked)(const Array& target, const Array& mask, const Array& value) = nullptr;
  /// accumulate_by() for a value as that of move().
  void (*accumulate)(const Selection& selection, const Array& value, Accumulation how);
  /// One of the `indices` (int64, aligned) outside [-extent, extent), the first on the CPU; nothing
  /// if all are inside. Waits.
  std::optional<std::int64_t> (*find_outside)(const Array& indices, std::int64_t extent);
  /// The indices, clipped; if one is outside [-extent, extent), the next wait of the host for the
  /// device throws BoundsError, which names `axis`. Null where find_outside() does not wait long.
  Array (*check_later)(const Array& indices, std::int64_t extent, int axis) = nullptr;
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
