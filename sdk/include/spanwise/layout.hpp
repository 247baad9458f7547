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

/// A Python slice. Absent bounds mean what they mean in Python: the ends, in the step's direction.
struct Slice {
  std::optional<std::int64_t> start{}, stop{}, step{};
};

/// Which elements of a storage an array sees, and in which order: index arithmetic, no memory.
///
/// Element (i0, i1, ...) is at offset + i0 * strides[0] + i1 * strides[1] + ..., in elements from
/// the storage's first byte. Contiguity ignores axes of extent 1 and holds for size 0. All members
/// are pure; views are NumPy's (numpy.ndarray.strides, basic indexing), which the tests compare to.
struct SW_API Layout {
  Shape shape;
  Strides strides;
  std::int64_t offset = 0;

  /// C order, last axis fastest. Throws LayoutError for a negative extent, a rank above max_rank,
  /// or a size that does not fit in 63 bits.
  static Layout row_major(const Shape& shape);
  /// Fortran order, first axis fastest. Throws as row_major.
  static Layout column_major(const Shape& shape);

  /// Dense, of `extents` (as many as axes here), with the axes in this layout's order of strides,
  /// all positive: NumPy's order "K". Throws as row_major.
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
  /// {lowest, highest} element offset touched; {0, -1} for size 0.
  std::pair<std::int64_t, std::int64_t> extent() const noexcept;
  /// False only where every index surely has an element of its own; stride 0 on an extent > 1 and
  /// interleaved axes give true. Such a layout must not be written in parallel.
  bool may_overlap_itself() const;

  /// `axis` counted from the end where negative. Throws LayoutError naming the rank.
  int normalise_axis(std::int64_t axis) const;
  /// One index along `axis`, which disappears. Throws BoundsError.
  Layout index(int axis, std::int64_t i) const;
  /// Python's slice rule along `axis`. Throws ArgumentError for step 0.
  Layout slice(int axis, const Slice& range) const;
  /// An axis of extent 1 before `axis` (numpy.newaxis).
  Layout expand(int axis) const;
  /// Without `axis`, whose extent must be 1; throws LayoutError otherwise.
  Layout squeeze(int axis) const;
  /// Axis i of the result is axis axes[i] of this. Throws LayoutError unless `axes` is a
  /// permutation.
  Layout permute(std::span<const int> axes) const;
  /// All axes in reverse order.
  Layout transpose() const;
  /// NumPy's broadcasting to `target`, stride 0 on stretched axes. Throws LayoutError.
  Layout broadcast_to(const Shape& target) const;
  /// numpy.diagonal: the two axes go, the diagonal becomes the last axis.
  Layout diagonal(std::int64_t k, int axis1, int axis2) const;
  /// The same elements in C order under another shape, or nothing where that needs a copy. One
  /// extent may be -1. Throws LayoutError where the sizes differ.
  std::optional<Layout> reshape(const Shape& target) const;
  /// The same bytes as elements of `to` bytes instead of `from` (ndarray.view(dtype)): the last
  /// axis changes its extent. Throws LayoutError where the last axis does not allow it.
  Layout reinterpret(int from_itemsize, int to_itemsize) const;

  friend bool operator==(const Layout&, const Layout&) noexcept = default;
};

/// Prints shape, strides (in elements) and offset.
SW_API std::ostream& operator<<(std::ostream& out, const Layout& layout);

/// `shape` with its one -1 replaced so that the size is `size`. Throws LayoutError.
SW_API Shape resolve_shape(const Shape& shape, std::int64_t size);
/// NumPy's common shape of the given ones. Throws LayoutError naming them.
SW_API Shape broadcast_shapes(std::span<const Shape> shapes);

}  // namespace spanwise
