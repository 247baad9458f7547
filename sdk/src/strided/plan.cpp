// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <vector>

#include "spanwise/runtime/kernel_types.hpp"
#include "spanwise/strided/plan.hpp"
#include "spanwise/strided/walk.hpp"

// Plans of loops: the axes of a walk, the choice of the kind of loop, and the plan itself.
namespace spanwise::strided {
namespace {

/// The axes of a walk, forward in the leader, which can be reversed and moved.
class WalkAxes : public Walk {
 public:
  WalkAxes(const Shape& shape, std::span<const Layout* const> arrays, int leader)
      : Walk(shape, arrays, leader, Direction::forward) {}

  /// Whether 32 bits are too few for an offset between two elements of an array.
  bool has_far_elements() const noexcept;
  bool has_equal_strides(int a, int b) const noexcept;
  /// Reverses the direction of the axis, and changes offset() accordingly.
  void reverse(int axis) noexcept;
  /// Makes groups of `count` elements of the last axis, whose strides are 1, one element; `count`
  /// divides its extent and all other strides. The axis is removed if its extent becomes 1, unless
  /// it is the only one. size() and offset() still count elements before join(). To be called once.
  void join(int count) noexcept;
  /// Moves an axis to index `to`; the axes between shift by one.
  void move(int axis, int to) noexcept;
  /// Extents, then the strides of each array but those in `left_out` (bit k: array k).
  std::vector<std::int64_t> numbers(std::uint32_t left_out) const;

 private:
  int joined_ = 1;
};

bool WalkAxes::has_far_elements() const noexcept {
  // A thread accesses packs of adjacent elements, of which the last may end behind the last
  // element, by fewer elements than this.
  constexpr std::int64_t margin = 4096;
  for (int array = 0; array < operands(); ++array) {
    std::int64_t reach = 0;
    for (int axis = 0; axis < rank(); ++axis)
      reach += (extent(axis) - 1) * std::abs(stride(axis, array));
    if (reach > INT32_MAX - margin) return true;
  }
  return false;
}

bool WalkAxes::has_equal_strides(int a, int b) const noexcept {
  for (int axis = 0; axis < rank(); ++axis)
    if (stride(axis, a) != stride(axis, b)) return false;
  return true;
}

void WalkAxes::reverse(int axis) noexcept { Walk::reverse(axis, at(rank()), joined_); }

void WalkAxes::join(int count) noexcept {
  const int inner = rank() - 1;
  at(inner)[0] /= count;
  for (int axis = 0; axis < inner; ++axis)
    for (int array = 0; array < operands(); ++array) at(axis)[1 + array] /= count;
  joined_ = count;
  if (inner > 0 && extent(inner) == 1) remove_last();
}

void WalkAxes::move(int axis, int to) noexcept {
  if (axis < to)
    std::rotate(at(axis), at(axis + 1), at(to + 1));
  else
    std::rotate(at(to), at(axis), at(axis + 1));
}

std::vector<std::int64_t> WalkAxes::numbers(std::uint32_t left_out) const {
  std::vector<std::int64_t> numbers;
  numbers.reserve(static_cast<std::size_t>(rank()) * (1 + static_cast<std::size_t>(operands())));
  for (int row = 0; row <= operands(); ++row)
    if (row == 0 || (left_out >> (row - 1) & 1) == 0)
      for (int axis = 0; axis < rank(); ++axis) numbers.push_back(at(axis)[row]);
  return numbers;
}

/// The tile of PlanShape::Kind::merged, by the walk's axes and arrays.
struct MergedTile {
  std::array<std::int64_t, max_rank> sides, steps;
  std::array<int, max_arrays> runs{};  ///< axes of a run that is accessed in words
  std::uint32_t staged = 0;            ///< bit k: array k is read into shared memory

  std::int64_t side(int axis) const noexcept { return sides[static_cast<std::size_t>(axis)]; }
  bool is_staged(int k) const noexcept { return (staged >> k & 1) != 0; }
};

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
  /// Appends the numbers of a merged plan that follow the strides.
  void add_tile(const PlanShape& shape, std::vector<std::int64_t>& numbers) const;
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
  /// With `only_whole` if few tiles are incomplete and all accesses have 16 bytes.
  bool try_make_tiles(PlanShape& shape, bool only_whole);
  bool has_whole_tiles(const PlanShape& shape, int s) const;
  bool try_make_cells(PlanShape& shape, bool only_whole);
  bool is_transposed(int k, int axis) const;
  bool is_dense_in(int k, int first, int end) const;
  std::optional<AccessPattern> cell_pattern(const CellRange& cell, int k) const;
  bool try_set_cells(const CellRange& cell, PlanShape& shape) const;
  bool has_aligned_cells(const CellRange& cell, const PlanShape& shape, int width) const;
  std::int64_t cell_blocks(const PlanShape& shape) const;
  std::optional<int> find_transposed_axis();
  void choose_sides(PlanShape& shape, int s) const;
  /// Adjacent elements of an array in a tile, along so many axes.
  struct Run {
    int axes;
    std::int64_t size;
  };
  bool is_reordered(int k) const;
  Run tile_run(const Walk::AxisOrder& order, int k, std::int64_t least_bytes) const;
  void choose_merged_patterns(PlanShape& shape);
  std::int64_t choose_tile_steps(int staged);
  bool try_make_merged(PlanShape& shape);
  std::int64_t merged_blocks() const;
  AccessPattern tile_pattern(const PlanShape& shape, int k) const;
  void store_patterns(PlanShape& shape) const;
  std::int64_t steps(const PlanShape& shape) const;

  WalkAxes axes_;
  std::span<const PlanArray> arrays_;
  int leader_, max_width_, inner_, joined_ = 1;
  bool has_odd_itemsize_ = false;  ///< of an array: not 1, 2, 4, 8 or 16 bytes, so no packs
  MergedTile tile_;                ///< for merged
};

/// The minimal extents of the two axes of a tile; shorter axes are not transposed through shared
/// memory. The minimal length of a row that is written in packs while an input is read element by
/// element.
constexpr std::int64_t min_side = 16, min_row = 32;
/// The maximal bytes of the tile of one array, and of all tiles of a block: as much shared memory
/// as a kernel gets without cuFuncSetAttribute.
constexpr int tile_bytes = 16 << 10, shared_bytes = 48 << 10;
/// The unit of memory transactions.
constexpr std::int64_t sector_bytes = 32;

bool fits_in_pack(int itemsize) noexcept {
  return itemsize <= 16 && std::has_single_bit(static_cast<unsigned>(itemsize));
}

Planner::Planner(const Shape& shape, std::span<const Layout* const> layouts,
                 std::span<const PlanArray> arrays, int leader, int max_width)
    : axes_(shape, layouts, leader),
      arrays_(arrays),
      leader_(leader),
      max_width_(max_width),
      inner_(axes_.rank() - 1) {
  for (int k = 0; k < axes_.operands(); ++k)
    if (is_memory(k) && !fits_in_pack(array(k).itemsize)) has_odd_itemsize_ = true;
  if (has_odd_itemsize_) max_width_ = 1;
}

bool Planner::is_memory(int k) const noexcept { return array(k).role != ArrayRole::index; }

std::uintptr_t Planner::bytes(std::int64_t elements, int k) const noexcept {
  return static_cast<std::uintptr_t>(elements) * static_cast<std::uintptr_t>(itemsize(k));
}

std::uintptr_t Planner::first_address(int k) const noexcept {
  return array(k).address + static_cast<std::uintptr_t>(axes_.offset(k) * array(k).itemsize);
}

std::uintptr_t Planner::stride_bytes(int axis, int k) const noexcept {
  return bytes(std::abs(axes_.stride(axis, k)), k);
}

bool Planner::try_make_dense(PlanShape& shape) const {
  if (axes_.rank() != 1) return false;
  PlanShape result = shape;
  result.width = static_cast<std::uint8_t>(max_width_);
  for (int k = 0; k < axes_.operands(); ++k) {
    const std::int64_t step = axes_.stride(0, k);
    if (step == 0 && array(k).role == ArrayRole::read) {
      result.patterns[static_cast<std::size_t>(k)] = AccessPattern::constant;
    } else if (step != 1 || (is_memory(k) && fits_in_pack(array(k).itemsize) &&
                             !is_aligned(k, 0, 0, result.width))) {
      return false;
    }
  }
  shape = result;
  return true;
}

int Planner::join_elements() {
  for (int k = 0; k < axes_.operands(); ++k)
    if (axes_.stride(inner_, k) != 1) return 1;
  for (int width = max_width_; width > 1; width /= 2) {
    if (axes_.extent(inner_) % width != 0 || !is_aligned(0, inner_, 0, width) ||
        !is_aligned(1, inner_, 0, width))
      continue;
    axes_.join(width);
    inner_ = axes_.rank() - 1;
    max_width_ /= width;
    return joined_ = width;
  }
  return 1;
}

std::int64_t Planner::make(PlanShape& shape) {
  const bool is_packed =
      !shape.is_serial && is_memory(leader_) && axes_.stride(inner_, leader_) == 1 &&
      (try_make_rows(shape) || try_make_cells(shape, true) || try_make_tiles(shape, true) ||
       try_make_merged(shape) || try_make_cells(shape, false) || try_make_tiles(shape, false) ||
       try_make_mixed_rows(shape));
  if (!is_packed) {
    shape.kind = PlanShape::Kind::rows;
    shape.width = 1;
    shape.has_tail = false;
  }
  shape.rank = static_cast<std::uint8_t>(axes_.rank());
  store_patterns(shape);
  for (int k = 0; k < axes_.operands() && !shape.is_serial; ++k)
    if (k != leader_ && is_written(array(k).role) && axes_.has_equal_strides(k, leader_))
      shape.shares_strides |= 1u << k;
  return steps(shape);
}

// Whether packs of `width` elements along the axis `along`, the first of them `ahead` elements
// after the first visited element, are aligned at all indices of the other axes.
bool Planner::is_aligned(int k, int along, std::int64_t ahead, std::int64_t width) const {
  bool aligned = (first_address(k) + bytes(ahead, k)) % bytes(width, k) == 0;
  for (int axis = 0; axis <= inner_; ++axis)
    if (axis != along) aligned &= axes_.stride(axis, k) % width == 0;
  return aligned;
}

AccessPattern Planner::pattern_of(int k, std::int64_t width) const {
  const std::int64_t step = axes_.stride(inner_, k);
  if (step == 0 && is_loaded(array(k).role)) return AccessPattern::constant;
  if (step == 1 && is_aligned(k, inner_, 0, width)) return AccessPattern::contiguous;
  if (step == -1 && is_loaded(array(k).role) && is_aligned(k, inner_, 1 - width, width))
    return AccessPattern::reversed;
  return AccessPattern::strided;
}

bool Planner::try_choose_leader_width(PlanShape& shape) const {
  return try_choose_width(
      shape, [&](int width) { return pattern_of(leader_, width) == AccessPattern::contiguous; });
}

// Every array is accessed in packs, or is constant along the row.
bool Planner::try_make_rows(PlanShape& shape) const {
  shape.kind = PlanShape::Kind::rows;
  return try_choose_width(shape, [&](int width) {
    if (axes_.extent(inner_) % width != 0) return false;
    for (int k = 0; k < axes_.operands(); ++k)
      if (is_memory(k) && pattern_of(k, width) == AccessPattern::strided) return false;
    return true;
  });
}

// Only the leader is accessed in packs. Where small elements are aligned to less than 4 bytes, a
// row's packs begin at its first aligned element.
bool Planner::try_make_mixed_rows(PlanShape& shape) const {
  shape.kind = PlanShape::Kind::rows;
  const std::int64_t extent = axes_.extent(inner_);
  if (extent < min_row) return false;
  const bool is_packed = try_choose_leader_width(shape);
  if (itemsize(leader_) * shape.width < 4 && itemsize(leader_) * max_width_ == 16 && extent >= 64) {
    shape.is_shifted = true;
    shape.width = static_cast<std::uint8_t>(max_width_);
    return true;
  }
  shape.has_tail = extent % shape.width != 0;
  return is_packed;
}

bool Planner::is_transposed(int k, int axis) const {
  return is_loaded(array(k).role) && stride_bytes(inner_, k) > sector_bytes &&
         axes_.stride(axis, k) != 0 && stride_bytes(axis, k) <= sector_bytes;
}

// For the first array that is transposed relative to the leader, the axis with its smallest stride,
// which is reversed if that is negative.
std::optional<int> Planner::find_transposed_axis() {
  for (int k = 0; k < axes_.operands(); ++k) {
    std::optional<int> fastest;
    for (int axis = 0; axis < inner_; ++axis)
      if (axes_.extent(axis) >= min_side && is_transposed(k, axis) &&
          (!fastest || stride_bytes(axis, k) < stride_bytes(*fastest, k)))
        fastest = axis;
    if (!fastest) continue;
    if (axes_.stride(*fastest, k) < 0) axes_.reverse(*fastest);
    return fastest;
  }
  return {};
}

bool Planner::try_make_tiles(PlanShape& shape, bool only_whole) {
  if (axes_.extent(inner_) < min_side || has_odd_itemsize_) return false;
  const std::optional<int> s = find_transposed_axis();
  if (!s) return false;
  PlanShape result = shape;
  result.kind = PlanShape::Kind::tiles;
  try_choose_leader_width(result);
  choose_sides(result, *s);
  // Many arrays may leave no room for their tiles.
  if (result.tile_rows < min_side || (only_whole && !has_whole_tiles(result, *s))) return false;
  axes_.move(*s, inner_ - 1);
  shape = result;
  return true;
}

bool Planner::has_whole_tiles(const PlanShape& shape, int s) const {
  const auto is_filled = [](std::int64_t extent, std::int64_t side) {
    return ceil_div(extent, side) * side * 8 <= extent * 9;
  };
  bool whole = shape.width == max_width_ && is_filled(axes_.extent(s), shape.tile_rows) &&
               is_filled(axes_.extent(inner_), shape.tile_columns);
  for (int k = 0; k < axes_.operands(); ++k)
    if (is_memory(k) && is_transposed(k, s))
      whole &= axes_.stride(s, k) == 1 && is_aligned(k, s, 0, 16 / itemsize(k));
  return whole;
}

// `s`: the axis that becomes the last but one.
void Planner::choose_sides(PlanShape& shape, int s) const {
  int widest = 1, transposed_bytes = 0;
  for (int k = 0; k < axes_.operands(); ++k) {
    if (!is_memory(k)) continue;
    widest = std::max(widest, itemsize(k));
    if (is_transposed(k, s)) transposed_bytes += itemsize(k);
  }
  const int bits = std::countr_zero(static_cast<unsigned>(tile_bytes)) -
                   std::countr_zero(static_cast<unsigned>(widest));
  int tile_rows = 1 << (bits + 1) / 2, tile_columns = 1 << bits / 2;
  const auto fit = [](int& side, std::int64_t extent) {
    while (side > min_side && side >= 2 * extent) side /= 2;
  };
  fit(tile_rows, axes_.extent(s));
  fit(tile_columns, axes_.extent(inner_));
  while (transposed_bytes * tile_rows * tile_columns > shared_bytes) tile_rows /= 2;
  shape.tile_rows = static_cast<std::uint8_t>(tile_rows);
  shape.tile_columns = static_cast<std::uint8_t>(tile_columns);
}

AccessPattern Planner::tile_pattern(const PlanShape& shape, int k) const {
  const int s = inner_ - 1;
  if (is_transposed(k, s)) {
    const int width = 16 / itemsize(k);
    const bool in_packs = width > 1 && axes_.stride(s, k) == 1 && is_aligned(k, s, 0, width);
    return in_packs ? AccessPattern::transposed_in_packs : AccessPattern::transposed;
  }
  const AccessPattern pattern = pattern_of(k, shape.width);
  return pattern == AccessPattern::reversed ? AccessPattern::strided : pattern;
}

void Planner::store_patterns(PlanShape& shape) const {
  if (shape.kind == PlanShape::Kind::cells || shape.kind == PlanShape::Kind::merged) return;
  const bool is_tiled = shape.kind == PlanShape::Kind::tiles;
  for (int k = 0; k < axes_.operands(); ++k) {
    AccessPattern& pattern = shape.patterns[static_cast<std::size_t>(k)];
    pattern = AccessPattern::strided;
    if (!is_memory(k)) continue;
    if (is_tiled)
      pattern = tile_pattern(shape, k);
    else if (shape.width > 1 || shape.is_serial)
      pattern = pattern_of(k, shape.width);
    // The packs of a shifted row are aligned in the leader only.
    if (shape.is_shifted && k == leader_)
      pattern = AccessPattern::contiguous;
    else if (shape.is_shifted && pattern != AccessPattern::constant)
      pattern = AccessPattern::strided;
    if (!is_tiled && is_unaligned(shape, k)) pattern = AccessPattern::unaligned;
  }
}

// Whether the array's packs are contiguous 16 bytes, aligned to less than 4. The first and last of
// a row are read element by element.
bool Planner::is_unaligned(const PlanShape& shape, int k) const {
  return is_loaded(array(k).role) && itemsize(k) <= 2 && itemsize(k) * shape.width == 16 &&
         axes_.stride(inner_, k) == 1 && axes_.extent(inner_) * itemsize(k) >= 64 &&
         (shape.is_shifted || !is_aligned(k, inner_, 0, 4 / itemsize(k)));
}

std::int64_t Planner::steps(const PlanShape& shape) const {
  if (shape.kind == PlanShape::Kind::cells) return cell_blocks(shape);
  if (shape.kind == PlanShape::Kind::merged) return merged_blocks();
  const bool is_tiled = shape.kind == PlanShape::Kind::tiles;
  // A shifted row has up to width - 1 elements before its first whole pack.
  const std::int64_t extent = axes_.extent(inner_) + (shape.is_shifted ? shape.width - 1 : 0);
  std::int64_t steps = ceil_div(extent, is_tiled ? shape.tile_columns : shape.width);
  for (int axis = 0; axis < inner_; ++axis)
    steps *= is_tiled && axis == inner_ - 1 ? ceil_div(axes_.extent(axis), shape.tile_rows)
                                            : axes_.extent(axis);
  return steps;
}

/// Shared memory of one array; two fit without an attribute.
constexpr std::int64_t cells_bytes = 16 << 10;
constexpr int max_staged = 2, max_staged_itemsize = 8;
/// The maximum of lines along the cells that a block reads or writes, and their minimal extent.
constexpr std::int64_t max_lines = 32, min_line = 64;
/// The minimum of bytes along the cells for a pass through shared memory, and of cells in a block.
constexpr std::int64_t min_bytes = 4096, min_cells = 16;

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

bool Planner::try_make_cells(PlanShape& shape, bool only_whole) {
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
      if (only_whole && result.width < max_width_) continue;
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

/// The maximum of elements of a merged tile, and of the bytes of all of them in a block. Smaller
/// arrays do not have the blocks that hide a tile's latency.
constexpr std::int64_t max_merged = 1 << 14, max_merged_bytes = 38 << 10, min_merged_size = 4096;
/// The maximum of strides of all arrays: a thread has each array's order in registers.
constexpr int max_merged_strides = 24;
/// Runs of fewer bytes read parts of sectors; those of so many are read in words.
constexpr std::int64_t short_run_bytes = 128, word_run_bytes = 64;

// Whether the array is to be read in another order than the leader's: its elements are adjacent
// along another axis, or in short runs of which the next one is elsewhere.
bool Planner::is_reordered(int k) const {
  if (!is_loaded(array(k).role) || axes_.stride(inner_, k) == 0) return false;
  const Walk::AxisOrder order = axes_.order(k);
  if (order[0] != inner_)
    return stride_bytes(order[0], k) <= 16 && stride_bytes(order[0], k) < stride_bytes(inner_, k);
  const std::int64_t run =
      axes_.extent(inner_) * static_cast<std::int64_t>(stride_bytes(inner_, k));
  return run < short_run_bytes && inner_ > 0 && axes_.stride(order[1], k) != 0 &&
         order[1] != inner_ - 1;
}

// The number of axes, the first of `order`, along which the tile's elements of array k are
// adjacent; the fewest that have `least_bytes`, if they have so many.
Planner::Run Planner::tile_run(const Walk::AxisOrder& order, int k,
                               std::int64_t least_bytes) const {
  Run run{0, 1};
  for (; run.axes < axes_.rank() && run.size * itemsize(k) < least_bytes; ++run.axes) {
    const int axis = order[static_cast<std::size_t>(run.axes)];
    if (tile_.side(axis) == 1 || axes_.stride(axis, k) != run.size) break;
    run.size *= tile_.side(axis);
    if (tile_.side(axis) < axes_.extent(axis)) return {run.axes + 1, run.size};
  }
  return run;
}

// Sets the pattern of each array. Elements are visited one by one: packs along the leader's runs,
// which begin anywhere in a word, take up to 1.7 times as long for bytes (H200).
void Planner::choose_merged_patterns(PlanShape& shape) {
  shape.width = 1;
  for (int k = 0; k < axes_.operands(); ++k) {
    AccessPattern& pattern = shape.patterns[static_cast<std::size_t>(k)];
    int& run_axes = tile_.runs[static_cast<std::size_t>(k)];
    pattern = k == leader_ ? AccessPattern::contiguous : AccessPattern::strided;
    run_axes = 0;
    if (!tile_.is_staged(k)) continue;
    pattern = AccessPattern::merged;
    const Run run = tile_run(axes_.order(k), k, word_run_bytes);
    if (itemsize(k) >= 4 || run.axes != 1 || run.size * itemsize(k) < word_run_bytes) continue;
    pattern = AccessPattern::merged_in_words;
    run_axes = 1;
  }
}

// Chooses the steps between elements of the tile along its axes, and returns their number with
// unused ones. Elements of a run of the leader are adjacent. The axes behind the run have odd
// steps: elements that are adjacent in a staged array are then in different banks.
std::int64_t Planner::choose_tile_steps(int staged) {
  const Run run = tile_run(axes_.order(leader_), leader_, 8 * itemsize(leader_));
  std::int64_t next = 1, size = 1;
  const auto add = [&](int axis, std::int64_t step) {
    tile_.steps[static_cast<std::size_t>(axis)] = step;
    size += (tile_.side(axis) - 1) * step;
    next = step * tile_.side(axis);
  };
  const int first_of_run = axes_.rank() - std::max(run.axes, 1);
  for (int axis = inner_; axis >= first_of_run; --axis) add(axis, next);
  const Walk::AxisOrder order = axes_.order(staged);
  for (int i = 0; i < axes_.rank(); ++i) {
    const int axis = order[static_cast<std::size_t>(i)];
    if (axis < first_of_run && tile_.side(axis) > 1) add(axis, next | 1);
  }
  return size;
}

bool Planner::try_make_merged(PlanShape& shape) {
  if (has_odd_itemsize_ || inner_ == 0 || axes_.size() / joined_ < min_merged_size ||
      axes_.rank() * axes_.operands() > max_merged_strides)
    return false;
  std::array<Walk::TileOperand, Walk::max_tile_operands> operands{{{leader_, itemsize(leader_)}}};
  std::size_t count = 1;
  std::int64_t widest = 1, all_bytes = 0;
  tile_.staged = 0;
  for (int k = 0; k < axes_.operands(); ++k) {
    if (!is_memory(k) || !is_reordered(k)) continue;
    if (count == operands.size()) return false;
    operands[count++] = {k, itemsize(k)};
    tile_.staged |= 1u << k;
    widest = std::max<std::int64_t>(widest, itemsize(k));
    all_bytes += itemsize(k);
  }
  if (count == 1) return false;
  std::int64_t size = std::min({max_merged, tile_bytes / widest, max_merged_bytes / all_bytes});
  PlanShape result = shape;
  result.cell_chunks = static_cast<std::uint8_t>((size + size / 4) / 128);
  for (;; size -= size / 8) {
    if (size < min_side) return false;
    tile_.sides = axes_.tile_sides(std::span(operands.data(), count), size);
    choose_merged_patterns(result);
    if (choose_tile_steps(operands[1].operand) <= 128 * result.cell_chunks) break;
  }
  result.kind = PlanShape::Kind::merged;
  result.inner = 0;
  // Axes of the tile become the last ones, in the same order.
  for (int left = axes_.rank(), axis = 0; left > 0; --left) {
    if (tile_.side(axis) == 1) {
      ++axis;
      continue;
    }
    axes_.move(axis, inner_);
    std::rotate(tile_.sides.begin() + axis, tile_.sides.begin() + axis + 1,
                tile_.sides.begin() + axes_.rank());
    std::rotate(tile_.steps.begin() + axis, tile_.steps.begin() + axis + 1,
                tile_.steps.begin() + axes_.rank());
    ++result.inner;
  }
  shape = result;
  return true;
}

std::int64_t Planner::merged_blocks() const {
  std::int64_t blocks = 1;
  for (int axis = 0; axis <= inner_; ++axis)
    blocks *= ceil_div(axes_.extent(axis), tile_.side(axis));
  return blocks;
}

void Planner::add_tile(const PlanShape& shape, std::vector<std::int64_t>& numbers) const {
  if (shape.kind != PlanShape::Kind::merged) return;
  const int outer = axes_.rank() - shape.inner;
  for (int axis = 0; axis <= inner_; ++axis)
    numbers.push_back(ceil_div(axes_.extent(axis), tile_.side(axis)));
  for (int axis = outer; axis <= inner_; ++axis) numbers.push_back(tile_.side(axis));
  for (int axis = outer; axis <= inner_; ++axis)
    numbers.push_back(tile_.steps[static_cast<std::size_t>(axis)]);
  const auto has_row = [&](int k) { return (shape.shares_strides >> k & 1) == 0; };
  for (int k = 0; k < axes_.operands(); ++k)
    if (has_row(k)) numbers.push_back(tile_.runs[static_cast<std::size_t>(k)]);
  for (int k = 0; k < axes_.operands(); ++k) {
    if (!has_row(k)) continue;
    const Walk::AxisOrder order = axes_.order(k);
    for (int i = 0; i < axes_.rank(); ++i) {
      // The elements of arrays that are not staged are visited in the order of the axes.
      const int axis = tile_.is_staged(k) ? order[static_cast<std::size_t>(i)] : inner_ - i;
      if (axis >= outer) numbers.push_back(axis - outer);
    }
  }
}

int widest_itemsize(std::span<const PlanArray> arrays) noexcept {
  int widest = 0;
  for (const PlanArray& array : arrays)
    if (array.role != ArrayRole::index) widest = std::max(widest, array.itemsize);
  return widest;
}

// The first written array, else the first.
int leader_of(std::span<const PlanArray> arrays) noexcept {
  const auto written =
      std::ranges::find_if(arrays, [](const PlanArray& array) { return is_written(array.role); });
  return written == arrays.end() ? 0 : static_cast<int>(written - arrays.begin());
}

// The elements of the widest array in 16 bytes; a division would take longer.
std::uint8_t widest_pack(std::span<const PlanArray> arrays, const PlanOptions& options) noexcept {
  const int widest = widest_itemsize(arrays);
  const int pack_width = widest == 0   ? 1
                         : widest == 1 ? 16
                         : widest == 2 ? 8
                         : widest <= 4 ? 4
                         : widest <= 8 ? 2
                                       : 1;
  return static_cast<std::uint8_t>(std::min(pack_width, options.max_width));
}

// One pack per thread where it writes 16 bytes of up to four elements: functions of one array take
// 3 % less time than with two (H200). With smaller written packs two take up to 6 % less time, with
// packs of eight elements, whose functions take longer to compute, up to 9 %.
std::uint8_t packs_per_thread(std::span<const PlanArray> arrays, std::uint8_t width,
                              const PlanOptions& options) noexcept {
  const auto packs = static_cast<std::uint8_t>(options.packs);
  if (options.max_width == 1 || width > 4) return packs;
  const int written_bytes = width * arrays[static_cast<std::size_t>(leader_of(arrays))].itemsize;
  return written_bytes >= 16 ? 1 : packs;
}

// Whether the body reads one and the same element of the array each time.
bool is_constant(const PlanArray& array) noexcept {
  return array.role == ArrayRole::read && array.layout->size() == 1;
}

// Whether packs of `width` elements are aligned; elements of other sizes than powers of two, which
// are not accessed in packs, always are.
bool is_aligned(const PlanArray& array, std::uintptr_t width) noexcept {
  const auto itemsize = static_cast<std::uintptr_t>(array.itemsize);
  return array.address % 16 == 0 || (itemsize & (itemsize - 1)) != 0 ||
         array.address % (width * itemsize) == 0;
}

// Whether each array that is loaded has one element for a whole row.
bool loads_constants_only(const PlanShape& shape, std::span<const PlanArray> arrays) noexcept {
  for (std::size_t k = 0; k < arrays.size(); ++k)
    if (is_loaded(arrays[k].role) && shape.patterns[k] != AccessPattern::constant) return false;
  return true;
}

std::int64_t size_of(const Shape& shape) noexcept {
  std::int64_t size = 1;
  for (const std::int64_t extent : shape) size *= extent;
  return size;
}

}  // namespace

bool StridedPlan::try_make_dense(const Shape& shape, std::span<const PlanArray> arrays,
                                 const PlanOptions& options) noexcept {
  PlanShape result;
  result.width = widest_pack(arrays, options);
  result.packs = packs_per_thread(arrays, result.width, options);
  result.count = static_cast<std::uint8_t>(arrays.size());
  result.is_serial = options.is_serial;
  for (std::size_t k = 0; k < arrays.size(); ++k) {
    const PlanArray& array = arrays[k];
    if (!is_aligned(array, result.width)) return false;
    if (array.layout->shape == shape && array.layout->is_row_major()) continue;
    if (!is_constant(array)) return false;
    result.patterns[k] = AccessPattern::constant;
  }
  shape_ = result;
  numbers_.clear();
  has_offsets_ = false;
  steps_ = size_of(shape);
  joined_ = 1;
  is_contiguous_ = !result.has_constants();
  return true;
}

void StridedPlan::make(const Shape& shape, std::span<const PlanArray> arrays,
                       const PlanOptions& options) {
  if (try_make_dense(shape, arrays, options)) return;
  std::array<const Layout*, max_arrays> layouts;
  for (std::size_t k = 0; k < arrays.size(); ++k) layouts[k] = arrays[k].layout;
  const int leader = leader_of(arrays);
  Planner planner(shape, std::span(layouts.data(), arrays.size()), arrays, leader,
                  widest_pack(arrays, options));
  const WalkAxes& axes = planner.axes();
  joined_ = 1;
  is_contiguous_ = axes.is_dense();
  shape_ = {};
  numbers_.clear();
  shape_.count = static_cast<std::uint8_t>(arrays.size());
  shape_.is_serial = options.is_serial;
  const auto store_offsets = [&] {
    for (int k = 0; k < axes.operands(); ++k) offsets_[index(k)] = axes.offset(k);
    has_offsets_ = true;
  };
  if (planner.try_make_dense(shape_)) {
    shape_.packs = packs_per_thread(arrays, shape_.width, options);
    steps_ = axes.size();
    return store_offsets();
  }
  shape_.is_large = axes.size() > INT32_MAX || axes.has_far_elements();
  if (options.joins_elements) joined_ = planner.join_elements();
  steps_ = planner.make(shape_);
  if (shape_.kind == PlanShape::Kind::rows && !shape_.is_serial &&
      (shape_.width < widest_pack(arrays, options) / joined_ ||
       loads_constants_only(shape_, arrays)))
    shape_.packs = static_cast<std::uint8_t>(options.row_packs);
  store_offsets();
  numbers_ = axes.numbers(shape_.shares_strides);
  planner.add_tile(shape_, numbers_);
}

}  // namespace spanwise::strided
