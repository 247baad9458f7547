// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "spanwise/core/export.hpp"
#include "spanwise/core/layout.hpp"

namespace spanwise {

/// A slice of an axis of known extent.
struct SliceRange {
  std::int64_t start, extent, step;
};
/// Applies Python's rule for slices: negative bounds count from the end. Throws ArgumentError for
/// step 0.
SW_API SliceRange resolve(const Slice& slice, std::int64_t extent);

/// Builds the view that NumPy's basic indexing selects. Call a member for each part of the index in
/// order: an integer, a slice, Ellipsis or newaxis; then take_remaining_axes(). The functions throw
/// BoundsError, with texts about an "Array".
class SW_API IndexedLayout {
 public:
  /// For an index whose integers and slices consume `consumed` axes of `source` and that has
  /// `ellipses` Ellipsis. `source` must outlive the object.
  IndexedLayout(const Layout& source, int consumed, int ellipses)
      : source_(source), offset_(source.offset), ellipsis_axes_(source.rank() - consumed) {
    if (ellipsis_axes_ < 0 || ellipses > 1) [[unlikely]]
      fail_parts(consumed, ellipses);
  }

  void take(std::int64_t i) {
    const std::int64_t extent = this->extent();
    if (i < -extent || i >= extent) [[unlikely]]
      fail_outside(i, axis_, source_.shape);
    offset_ += (i < 0 ? i + extent : i) * source_.strides[axis_++];
  }
  void take(const SliceRange& slice) {
    const std::int64_t stride = source_.strides[axis_++];
    if (slice.extent > 0) offset_ += slice.start * stride;
    // With at most one element the step is not used, and its product might overflow.
    add(slice.extent, slice.extent > 1 ? slice.step * stride : stride);
  }
  void take(const Slice& slice) { take(resolve(slice, extent())); }
  void insert_axis() { add(1, 0); }
  /// Keeps the axes that no other part consumes.
  void take_ellipsis() {
    for (; ellipsis_axes_ > 0; --ellipsis_axes_) keep();
  }
  /// Keeps the axes after the last part.
  void take_remaining_axes() {
    while (axis_ < source_.rank()) keep();
  }
  /// Leaves out axes that the caller selects itself, such as those of index arrays.
  void skip(int axes) noexcept { axis_ += axes; }

  /// The axis of the source that the next part consumes, and its extent.
  int axis() const noexcept { return axis_; }
  std::int64_t extent() const noexcept { return source_.shape[axis_]; }
  /// The view as far as the parts until now determine it.
  int rank() const noexcept { return rank_; }
  std::int64_t offset() const noexcept { return offset_; }
  std::int64_t extent(int axis) const noexcept { return shape_[static_cast<std::size_t>(axis)]; }
  std::int64_t stride(int axis) const noexcept { return strides_[static_cast<std::size_t>(axis)]; }
  Layout layout() const {
    const auto size = static_cast<std::size_t>(rank_);
    const std::span shape(shape_.data(), size);
    const bool is_empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
    // If an axis is empty, the indices of other axes may lead outside the memory; keep the offset.
    return {Shape(shape), Strides(std::span(strides_.data(), size)),
            is_empty ? source_.offset : offset_};
  }

  [[noreturn]] static void fail_outside(std::int64_t index, int axis, const Shape& shape);

 private:
  [[noreturn]] static void fail_rank();
  [[noreturn]] void fail_parts(int consumed, int ellipses) const;
  void keep() { add(extent(), source_.strides[axis_]), ++axis_; }
  void add(std::int64_t extent, std::int64_t stride) {
    if (rank_ >= max_rank) [[unlikely]]
      fail_rank();
    shape_[static_cast<std::size_t>(rank_)] = extent;
    strides_[static_cast<std::size_t>(rank_++)] = stride;
  }

  const Layout& source_;
  std::int64_t offset_;
  int axis_ = 0, rank_ = 0;  // of the source: the next axis; of the view
  int ellipsis_axes_;        // the number of axes for which an Ellipsis stands
  std::array<std::int64_t, max_rank> shape_, strides_;  // the first rank_ of each are set
};

}  // namespace spanwise
