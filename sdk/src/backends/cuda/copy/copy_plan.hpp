// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "spanwise/array.hpp"

/// How to move the elements of one layout to another: the two brought to their simplest common
/// form. Index arithmetic only; touches no memory and no device.
namespace spanwise::cuda {

/// One axis of a copy; strides count units (CopyPlan::source_unit, target_unit).
struct CopyAxis {
  std::int64_t extent, source_stride, target_stride;
};

/// The axes of a plan. Small copies are planned anew each time, and taking memory from the heap for
/// their axes would cost as much as the rest of the planning.
class CopyAxes {
 public:
  CopyAxes() noexcept {}  // not "= default": that would clear the places
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
  void cut(const CopyAxis* new_end) noexcept {
    size_ = static_cast<std::size_t>(new_end - axes_.data());
  }

 private:
  static constexpr std::size_t most = max_rank + 1;  // and the bytes of an element
  std::size_t size_ = 0;
  std::array<CopyAxis, most> axes_;
};

/// for (i in axes) target[sum i * target_stride] = source[sum i * source_stride], outermost first.
struct CopyPlan {
  enum class Kind {
    nothing,  ///< no elements
    block,    ///< one run of bytes on both sides
    strided,  ///< one unit at a time
    tiled,    ///< the source runs along one axis, the target along another: the last two of `axes`,
            ///< the source's first; moved in tiles so that both sides are read and written in runs
    packed,  ///< as tiled, of elements of 1, 2 or 4 bytes that are not cast, in 16-byte accesses
    thin,    ///< one side is dense in a short axis, the last but one, and the last; the other side
             ///< runs along the last
    cells,   ///< both sides are dense in the last `inner` axes, in different orders, and in the one
             ///< before them
    aligned_chunks,  ///< runs of bytes or pairs of them, aligned differently on the two sides; the
                     ///< last axis counts the pieces of 16 bytes that a run may touch
  };
  /// How the elements of a unit (strided plans) lie in the source: as in the target; backwards in
  /// groups of `group`; or `step` apart, where source strides count elements and not units.
  enum class AccessPattern { run, turned, apart };
  Kind kind = Kind::nothing;
  /// Bytes of one element. Equal dtypes move words as wide as both layouts allow; a cast moves
  /// the dtypes' elements.
  int source_unit = 1, target_unit = 1;
  /// Elements of a strided plan's unit, which is written at once.
  int elements = 1;
  AccessPattern pattern = AccessPattern::run;
  int group = 1;
  std::int64_t step = 0;
  /// Tiles: whether every line of a side can be read or written by 16 bytes at a time. Those of
  /// thin plans and of cells are for both sides.
  bool source_vectors = false, target_vectors = false;
  /// Of a thin plan: the dense side, and how much of the last axis a block takes. Of cells: how
  /// many of them it takes, and how many axes one has.
  bool dense_source = false;
  std::int64_t chunk = 0;
  int inner = 0;
  /// Of aligned_chunks: units of a run; and the bytes that hold the source, from its first unit.
  std::int64_t length = 0, hull_begin = 0, hull_end = 0;
  /// From the arrays' element (0, ..., 0) to the plan's first unit, in bytes; not 0 where axes that
  /// run backwards were turned.
  std::int64_t source_offset = 0, target_offset = 0;
  CopyAxes axes;  ///< at least one, unless nothing; the last counts units
  /// An offset or the number of units does not fit in 31 bits.
  bool wide = false;

  std::int64_t size() const noexcept;  ///< units
  /// Blocks of threads that the kernel is launched with.
  std::int64_t blocks(int threads, int units_per_thread) const noexcept;
};

/// The sides of a packed plan's tile, in elements of `unit` bytes: 16 bytes by 8, twice for words
/// of 4 bytes, on either side.
struct PackedSides {
  int by_s, by_t;  ///< PackedTile's of device/copy_tile.cuh
  std::int64_t s, t;
};
PackedSides packed_sides(int unit) noexcept;

/// n / extent == n * multiplier >> shift for 0 <= n < 2^31 (Granlund and Montgomery, "Division by
/// invariant integers using multiplication", 1994). Extents of 2^31 and more, which only wide plans
/// have, get something else.
struct FastDivisor {
  std::uint32_t multiplier, shift;
};
FastDivisor fast_divisor(std::int64_t extent) noexcept;

/// What shared memory holds of a thin plan, or of cells; and the most units of a cell.
inline constexpr std::int64_t thin_bytes = 16384, most_cell_units = 512;

/// For arrays of equal shape that do not overlap. Looks at layouts, dtypes and the alignment of
/// data.
CopyPlan plan_copy(const Array& source, const Array& target);

/// The target's side of the same, for writing one value everywhere: source strides are 0, and axes
/// that revisit an element (stride 0) are left out. Units are items of the dtype, or as many of
/// them as 16 bytes hold where the layout allows.
CopyPlan plan_fill(const Array& target);

}  // namespace spanwise::cuda
