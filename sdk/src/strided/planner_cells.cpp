// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include "planner.hpp"

namespace spanwise::strided {
namespace {

/// Shared memory of one array; two fit without an attribute.
constexpr std::int64_t cells_bytes = 16 << 10;
constexpr int max_staged = 2, max_staged_itemsize = 8;
/// The maximum of lines along the cells that a block reads or writes, and their minimal extent.
constexpr std::int64_t max_lines = 32, min_line = 64;
/// The minimum of bytes along the cells for a pass through shared memory, and of cells in a block.
constexpr std::int64_t min_bytes = 4096, min_cells = 16;

}  // namespace

// Whether the array is dense in the axes [first, end), in any order, with positive strides.
bool Planner::is_dense_in(int k, int first, int end) const {
  std::int64_t next = 1;
  for (int count = first; count < end; ++count) {
    int axis = first;
    while (axis < end && axes_.stride(axis, k) != next) ++axis;
    if (axis == end) return false;
    next *= axes_.extent(axis);
  }
  return true;
}

// The pattern of an array whose cells are the axes [cell.first, cell.end) and follow each other
// along cell.along.
std::optional<AccessPattern> Planner::cell_pattern(const CellRange& cell, int k) const {
  const bool is_read = is_loaded(array(k).role);
  const std::int64_t along = axes_.stride(cell.along, k);
  bool is_constant = is_read && along == 0, is_alike = along == axes_.stride(cell.along, leader_);
  for (int axis = cell.first; axis < cell.end; ++axis) {
    is_constant &= axes_.stride(axis, k) == 0;
    is_alike &= axes_.stride(axis, k) == axes_.stride(axis, leader_);
  }
  if (is_constant) return AccessPattern::constant;
  if (is_alike || (cell.has_planes && along == 1)) return AccessPattern::contiguous;
  if (!is_read || itemsize(k) > max_staged_itemsize) return {};
  if (along == cell.size && is_dense_in(k, cell.first, cell.end)) return AccessPattern::cells;
  const bool has_lines = along == 1 && cell.size <= max_lines && cell.count >= min_line;
  if (has_lines) return AccessPattern::planes;
  return {};
}

// Sets the patterns of a plan of these cells; false if an array has none.
bool Planner::try_set_cells(const CellRange& cell, PlanShape& shape) const {
  int staged = 0, widest = 1;
  for (int k = 0; k < axes_.operands(); ++k) {
    if (!is_memory(k)) return false;
    const std::optional<AccessPattern> pattern = cell_pattern(cell, k);
    if (!pattern) return false;
    shape.patterns[static_cast<std::size_t>(k)] = *pattern;
    if (*pattern != AccessPattern::cells && *pattern != AccessPattern::planes) continue;
    ++staged;
    widest = std::max(widest, itemsize(k));
  }
  const std::int64_t elements = cells_bytes / widest;
  shape.cell_chunks = static_cast<std::uint8_t>(elements / 128);
  return staged > 0 && staged <= max_staged && cell.size * min_cells <= elements &&
         cell.count * cell.size * widest >= min_bytes;
}

// Whether packs of `width` elements are aligned in all blocks, whose first cells are at multiples
// of 16.
bool Planner::has_aligned_cells(const CellRange& cell, const PlanShape& shape, int width) const {
  for (int k = 0; k < axes_.operands(); ++k) {
    const AccessPattern pattern = shape.patterns[static_cast<std::size_t>(k)];
    if (pattern == AccessPattern::constant) continue;
    const bool has_lines = pattern == AccessPattern::planes ||
                           (cell.has_planes && pattern == AccessPattern::contiguous);
    bool aligned = first_address(k) % bytes(width, k) == 0;
    for (int axis = 0; axis <= inner_; ++axis)
      if (axis != cell.along && (has_lines || axis < cell.first))
        aligned &= axes_.stride(axis, k) % width == 0;
    if (!aligned) return false;
  }
  return true;
}

bool Planner::try_make_cells(PlanShape& shape) {
  if (has_odd_itemsize_) return false;
  for (const bool has_planes : {false, true})
    for (int inner = 1; inner <= inner_; ++inner) {
      CellRange cell{has_planes, has_planes ? inner_ : inner_ - inner, 0, 0, 1, 0};
      cell.first = has_planes ? inner_ - inner : inner_ - inner + 1;
      cell.end = cell.first + inner;
      for (int axis = cell.first; axis < cell.end; ++axis) cell.size *= axes_.extent(axis);
      cell.count = axes_.extent(cell.along);
      const bool fits = has_planes ? cell.size <= max_lines && cell.count >= min_line
                                   : axes_.stride(cell.along, leader_) == cell.size &&
                                         is_dense_in(leader_, cell.first, cell.end);
      PlanShape result = shape;
      if (!fits || !try_set_cells(cell, result)) continue;
      try_choose_width(result, [&](int width) { return has_aligned_cells(cell, result, width); });
      result.kind = PlanShape::Kind::cells;
      result.inner = static_cast<std::uint8_t>(inner);
      result.has_planes = has_planes;
      if (has_planes) axes_.move(inner_, inner_ - inner);
      shape = result;
      return true;
    }
  return false;
}

std::int64_t Planner::cell_blocks(const PlanShape& shape) const {
  const int along = inner_ - shape.inner;
  std::int64_t size = 1, blocks = 1;
  for (int axis = along + 1; axis <= inner_; ++axis) size *= axes_.extent(axis);
  for (int axis = 0; axis < along; ++axis) blocks *= axes_.extent(axis);
  const std::int64_t cells = std::int64_t{shape.cell_chunks} * 128 / size / min_cells * min_cells;
  return blocks * ((axes_.extent(along) + cells - 1) / cells);
}

}  // namespace spanwise::strided
