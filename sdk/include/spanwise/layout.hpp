// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <span>
#include <utility>

#include "spanwise/dims.hpp"
#include "spanwise/export.hpp"

namespace spanwise {

/// A Python slice. A missing `step` is 1; a missing `start` is the first element in the step's
/// direction, and a missing `stop` includes the last one.
struct Slice {
  std::optional<std::int64_t> start{}, stop{}, step{};
};

/// Maps the indices of an array to elements of a storage. Pure index arithmetic, no memory.
///
/// Element (i0, i1, ...) is at offset + i0 * strides[0] + i1 * strides[1] + ..., in elements from
/// the storage's first byte. Contiguity ignores axes of extent 1 and holds for size 0. All members
/// are pure. Views follow NumPy (numpy.ndarray.strides, basic indexing), against which they are
/// tested. A negative `axis` counts from the end; one out of range throws AxisError.
struct SW_API Layout {
  Shape shape;
  Strides strides;
  std::int64_t offset = 0;

  /// C order, offset 0. Throws LayoutError for a negative extent, a rank above max_rank, or where
  /// the product of the extents other than 0 does not fit in 63 bits.
  static Layout row_major(const Shape& shape);
  /// Fortran order, offset 0. Throws as row_major.
  static Layout column_major(const Shape& shape);

  /// A dense layout of shape `extents` and offset 0 with this layout's order of axes by stride, all
  /// strides positive: NumPy's order='K'. Throws LayoutError unless there are rank() extents, and
  /// as row_major.
  Layout packed(const Shape& extents) const;

  int rank() const noexcept { return shape.size(); }
  /// Number of elements; 1 for rank 0.
  std::int64_t size() const noexcept {
    std::int64_t size = 1;
    for (const std::int64_t extent : shape) size *= extent;
    return size;
  }
  bool is_row_major() const noexcept;
  bool is_column_major() const noexcept;
  /// {lowest, highest} offset of an element; {0, -1} for size 0. Bounds that do not fit in 64 bits
  /// saturate.
  std::pair<std::int64_t, std::int64_t> offset_range() const noexcept;
  [[deprecated("use offset_range()")]] std::pair<std::int64_t, std::int64_t> extent()
      const noexcept {
    return offset_range();
  }
  /// False where every index certainly maps to its own element. True for stride 0 on an extent > 1
  /// and for interleaved axes, possibly a false positive. Such a layout must not be written in
  /// parallel.
  bool may_overlap_itself() const;

  /// Maps a negative `axis`, which counts from the end, to its index. Throws AxisError where it is
  /// out of range.
  int normalise_axis(std::int64_t axis) const;
  /// Selects index `i` and removes `axis`; negative `i` counts from the end. Throws BoundsError
  /// where it is out of range.
  Layout index(int axis, std::int64_t i) const;
  /// Slices `axis` by Python's rules. Throws ArgumentError for step 0.
  Layout slice(int axis, const Slice& range) const;
  /// Inserts an axis of extent 1 that becomes axis `axis` of the result (numpy.expand_dims). Throws
  /// LayoutError where `axis` is out of range or the rank would exceed max_rank.
  Layout expand(int axis) const;
  /// Removes `axis`. Throws LayoutError unless its extent is 1.
  Layout squeeze(int axis) const;
  /// Axis i of the result is axis axes[i] of this. Throws LayoutError unless `axes` is a
  /// permutation.
  Layout permute(std::span<const int> axes) const;
  /// All axes in reverse order.
  Layout transpose() const;
  /// NumPy's broadcasting to `target`, with stride 0 on broadcast axes. Throws LayoutError where
  /// the shapes do not broadcast.
  Layout broadcast_to(const Shape& target) const;
  /// numpy.diagonal with offset `k`: removes both axes and appends the diagonal as the last axis.
  /// Throws LayoutError unless there are two different axes.
  Layout diagonal(std::int64_t k, int axis1, int axis2) const;
  /// The same elements in C order in another shape; nullopt where that needs a copy. One extent may
  /// be -1. Throws as resolve_shape and row_major.
  std::optional<Layout> reshape(const Shape& target) const;
  /// The same bytes as elements of `to_itemsize` bytes (ndarray.view(dtype)); changes the extent of
  /// the last axis. Throws LayoutError where shape, strides or offset do not allow it.
  Layout reinterpret(int from_itemsize, int to_itemsize) const;

  friend bool operator==(const Layout&, const Layout&) noexcept = default;
};

/// Prints shape, strides (in elements) and offset.
SW_API std::ostream& operator<<(std::ostream& out, const Layout& layout);

/// `shape` with its -1, if any, replaced so that the size is `size`. Throws LayoutError for several
/// -1, for other negative extents, and where no extent or every extent gives that size.
SW_API Shape resolve_shape(const Shape& shape, std::int64_t size);
/// numpy.broadcast_shapes; -1 is an unknown extent, which results in n beside any n other than 1,
/// and in -1 beside 1. Throws LayoutError naming the shapes.
SW_API Shape broadcast_shapes(std::span<const Shape> shapes);

}  // namespace spanwise
