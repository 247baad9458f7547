// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "spanwise/array.hpp"

/// Plans of strided copies: the axes of both layouts, reordered and merged. Index arithmetic only;
/// no memory or device is accessed.
namespace spanwise::cuda {

/// One axis of a copy; strides count units (CopyPlan::source_unit, target_unit).
struct CopyAxis {
  std::int64_t extent, source_stride, target_stride;
};

/// The axes of a plan, without heap allocation, which would take as long as planning a small copy.
class CopyAxes {
 public:
  CopyAxes() noexcept {}  // not "= default", which would clear the axes
  CopyAxes(const CopyAxis* first, const CopyAxis* last) noexcept
      : size_(static_cast<std::size_t>(last - first)) {
    std::copy(first, last, axes_.begin());
  }
  CopyAxes(const CopyAxes& other) noexcept : CopyAxes(other.begin(), other.end()) {}
  CopyAxes& operator=(const CopyAxes& other) noexcept {
    size_ = other.size_;
    std::copy(other.begin(), other.end(), axes_.begin());
    return *this;
  }

  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  CopyAxis* begin() noexcept { return axes_.data(); }
  CopyAxis* end() noexcept { return axes_.data() + size_; }
  const CopyAxis* begin() const noexcept { return axes_.data(); }
  const CopyAxis* end() const noexcept { return axes_.data() + size_; }
  CopyAxis& operator[](std::size_t i) noexcept { return axes_[i]; }
  const CopyAxis& operator[](std::size_t i) const noexcept { return axes_[i]; }
  const CopyAxis& front() const noexcept { return axes_[0]; }
  CopyAxis& back() noexcept { return axes_[size_ - 1]; }
  const CopyAxis& back() const noexcept { return axes_[size_ - 1]; }
  void push_back(const CopyAxis& axis) noexcept { axes_[size_++] = axis; }
  void pop_back() noexcept { --size_; }
  void truncate(const CopyAxis* new_end) noexcept {
    size_ = static_cast<std::size_t>(new_end - axes_.data());
  }

 private:
  static constexpr std::size_t capacity = max_rank + 1;  // one more for the bytes of an element
  std::size_t size_ = 0;
  std::array<CopyAxis, capacity> axes_;
};

/// for (i in axes) target[sum i * target_stride] = source[sum i * source_stride], outermost first.
struct CopyPlan {
  enum class Kind {
    nothing,  ///< no elements
    block,    ///< contiguous bytes on both sides
    strided,  ///< one unit at a time
    tiled,    ///< source and target are contiguous along different axes, the last two of `axes`,
              ///< the source's first; copied in tiles with contiguous accesses on both sides
    packed,   ///< as tiled, for elements of 1, 2 or 4 bytes without a cast, in 16-byte accesses
    thin,     ///< one side is dense in a short axis, the last but one, and the last; the other side
              ///< is contiguous along the last
    small_arrays,    ///< both sides are dense in the last `inner` axes, in different orders, and in
                     ///< the axis before them
    aligned_chunks,  ///< contiguous bytes or pairs of bytes, aligned differently on the two sides;
                     ///< the last axis counts the chunks of 16 bytes that a run may touch
  };
  /// The layout of a unit's elements in the source (strided plans): contiguous as in the target;
  /// reversed in groups of `group`; or strided by `step`, with source strides in elements, not
  /// units.
  enum class AccessPattern { contiguous, reversed, strided };
  Kind kind = Kind::nothing;
  /// Bytes of one element: of the dtypes for a cast, else of the widest words that both layouts
  /// allow.
  int source_unit = 1, target_unit = 1;
  /// Elements of a strided plan's unit, which is written in one access.
  int elements = 1;
  AccessPattern pattern = AccessPattern::contiguous;
  int group = 1;
  std::int64_t step = 0;
  /// Whether all lines of a side can be accessed 16 bytes at a time; for thin and small_arrays both
  /// are equal.
  bool source_vectors = false, target_vectors = false;
  /// For thin: the dense side, and the extent of the last axis per block. For small_arrays: the
  /// number of arrays per block, and the rank of one.
  bool dense_source = false;
  std::int64_t chunk = 0;
  int inner = 0;
  /// For aligned_chunks: units of a run; and the range of the source's bytes, from its first unit.
  std::int64_t length = 0, source_begin = 0, source_end = 0;
  /// Bytes from the arrays' element (0, ..., 0) to the plan's first unit; not 0 if axes were
  /// reversed.
  std::int64_t source_offset = 0, target_offset = 0;
  CopyAxes axes;  ///< at least one, except for nothing; the last counts units
  /// An offset or the number of units does not fit in 31 bits.
  bool wide = false;

  std::int64_t size() const noexcept;  ///< units
  /// Blocks of threads that the kernel is launched with.
  std::int64_t blocks(int threads, int units_per_thread) const noexcept;
};

/// The sides of a packed plan's tile, in elements of `unit` bytes.
struct PackedSides {
  int by_s, by_t;  ///< parameters of PackedTile of device/copy_packed.cuh
  std::int64_t s, t;
};
PackedSides packed_sides(int unit) noexcept;

/// n / extent == n * multiplier >> shift for 0 <= n < 2^31 (Granlund and Montgomery, "Division by
/// invariant integers using multiplication", 1994). Unspecified for extents of 2^31 and
/// more, which only wide plans have.
struct FastDivisor {
  std::uint32_t multiplier, shift;
};
FastDivisor fast_divisor(std::int64_t extent) noexcept;

/// Bytes of shared memory of thin and small_arrays; and the maximum of units of a small array.
inline constexpr std::int64_t thin_bytes = 16384, max_small_array_units = 512;

/// For arrays of equal shape that do not overlap. Looks at layouts, dtypes and the alignment of
/// data.
CopyPlan plan_copy(const Array& source, const Array& target);

/// A plan for writing one value to all elements: source strides are 0, and axes of target stride 0
/// are left out. Units are items of the dtype, or up to 16 bytes of them if the layout allows.
CopyPlan plan_fill(const Array& target);

}  // namespace spanwise::cuda
