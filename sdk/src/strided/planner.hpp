// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "spanwise/strided/plan.hpp"
#include "walk_axes.hpp"

namespace spanwise::strided {

/// Chooses the kind of loop for arrays that are not all C-contiguous: kind, width, patterns, tiles,
/// and the order and direction of the axes. All arrays count, except those of role index.
class Planner {
 public:
  /// `max_width`: elements of the widest pack that the body allows.
  Planner(const Shape& shape, std::span<const Layout* const> layouts,
          std::span<const PlanArray> arrays, int leader, int max_width);

  /// Whether all arrays are contiguous in one order, aligned, or constant: Kind::dense, written to
  /// `shape`.
  bool try_make_dense(PlanShape& shape) const;
  /// Joins as many adjacent elements of both arrays to one as alignment allows, and returns their
  /// number.
  int join_elements();
  /// Chooses another kind. Returns the number of steps.
  std::int64_t make(PlanShape& shape);
  const WalkAxes& axes() const noexcept { return axes_; }

 private:
  /// Cells: the axes [first, end), of `size` elements each; `count` cells lie along axis `along`.
  struct CellRange {
    bool has_planes;  ///< PlanShape::has_planes
    int along, first, end;
    std::int64_t size, count;
  };
  bool is_memory(int k) const noexcept;
  const PlanArray& array(int k) const noexcept { return arrays_[static_cast<std::size_t>(k)]; }
  int itemsize(int k) const noexcept { return array(k).itemsize * joined_; }
  std::uintptr_t bytes(std::int64_t elements, int k) const noexcept;
  std::uintptr_t first_address(int k) const noexcept;
  std::uintptr_t stride_bytes(int axis, int k) const noexcept;
  bool is_aligned(int k, int along, std::int64_t ahead, std::int64_t width) const;
  AccessPattern pattern_of(int k, std::int64_t width) const;
  /// Chooses the widest packs that `fits(width)` accepts; false if only packs of one element fit.
  template <class F>
  bool try_choose_width(PlanShape& shape, F&& fits) const {
    for (int width = max_width_; width > 1; width /= 2) {
      shape.width = static_cast<std::uint8_t>(width);
      if (fits(width)) return true;
    }
    shape.width = 1;
    return false;
  }
  /// Sets shape.width to the widest packs in which the leader is contiguous; false if that is 1.
  bool try_choose_leader_width(PlanShape& shape) const;
  bool try_make_rows(PlanShape& shape) const;
  bool try_make_mixed_rows(PlanShape& shape) const;
  bool is_unaligned(const PlanShape& shape, int k) const;
  bool try_make_tiles(PlanShape& shape);
  bool try_make_cells(PlanShape& shape);
  bool is_transposed(int k, int axis) const;
  bool is_dense_in(int k, int first, int end) const;
  std::optional<AccessPattern> cell_pattern(const CellRange& cell, int k) const;
  bool try_set_cells(const CellRange& cell, PlanShape& shape) const;
  bool has_aligned_cells(const CellRange& cell, const PlanShape& shape, int width) const;
  std::int64_t cell_blocks(const PlanShape& shape) const;
  std::optional<int> find_transposed_axis();
  void choose_sides(PlanShape& shape) const;
  AccessPattern tile_pattern(const PlanShape& shape, int k) const;
  void store_patterns(PlanShape& shape) const;
  std::int64_t steps(const PlanShape& shape) const;

  WalkAxes axes_;
  std::span<const PlanArray> arrays_;
  int leader_, max_width_, inner_, joined_ = 1;
  bool has_odd_itemsize_ = false;  ///< of an array: not 1, 2, 4, 8 or 16 bytes, so no packs
};

}  // namespace spanwise::strided
