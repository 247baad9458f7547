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
  int run_axes = 1;  ///< the last ones, along which the leader is visited in packs
  /// Of a run of staged array k, the elements along its last axis; 0: all of the tile's.
  std::array<std::int64_t, max_arrays> parts{};
  std::uint32_t staged = 0;  ///< bit k: array k is read into shared memory

  std::int64_t side(int axis) const noexcept { return sides[static_cast<std::size_t>(axis)]; }
  bool is_staged(int k) const noexcept { return (staged >> k & 1) != 0; }
};

/// Chooses the kind of loop for arrays that are not all C-contiguous: kind, width, patterns, tiles,
/// and the order and direction of the axes. All arrays count, except those of role index.
class Planner {
 public:
  /// `max_width`: elements of the widest pack that the body allows.
  Planner(const Shape& shape, std::span<const Layout* const> layouts,
          std::span<const PlanArray> arrays, int leader, int max_width, bool may_repeat);

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
  bool may_repeat_elements() const;
  bool is_linear(int k, int first) const;
  Run source_run(int k) const;
  void choose_leader_run(PlanShape& shape);
  void choose_merged_patterns(PlanShape& shape) const;
  std::int64_t choose_tile_steps(int staged);
  bool try_make_merged(PlanShape& shape);
  std::int64_t merged_blocks() const;
  void split_long_runs();
  void add_order(const PlanShape& shape, int k, std::vector<std::int64_t>& numbers) const;
  AccessPattern tile_pattern(const PlanShape& shape, int k) const;
  void store_patterns(PlanShape& shape) const;
  std::int64_t steps(const PlanShape& shape) const;

  WalkAxes axes_;
  std::span<const PlanArray> arrays_;
  int leader_, max_width_, inner_, joined_ = 1;
  bool has_odd_itemsize_ = false;  ///< of an array: not 1, 2, 4, 8 or 16 bytes, so no packs
  bool may_repeat_;                ///< PlanOptions::may_repeat
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
                 std::span<const PlanArray> arrays, int leader, int max_width, bool may_repeat)
    : axes_(shape, layouts, leader),
      arrays_(arrays),
      leader_(leader),
      max_width_(max_width),
      inner_(axes_.rank() - 1),
      may_repeat_(may_repeat) {
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

/// The maximum of elements of a merged tile, of the bytes of one array, for elements of up to 2
/// bytes and for larger ones, and of all arrays.
constexpr std::int64_t max_merged = 24 << 10, small_tile_bytes = 30 << 10,
                       max_merged_bytes = 38 << 10;
/// Smaller arrays do not have the blocks that hide a tile's latency; larger ones have at least so
/// many, if their tiles do not get smaller than the minimum.
constexpr std::int64_t min_merged_size = 4096, merged_tiles = 512, min_merged = 2048;
/// The maximum of axes of all arrays: each has its numbers among the kernel's arguments.
constexpr int max_merged_strides = 24;
/// Runs of fewer bytes read parts of sectors. A staged array is read along runs of about so many
/// bytes, and of no more words than a block has threads; the leader is written along runs of the
/// last.
constexpr std::int64_t short_run_bytes = 128, source_run_bytes = 128, leader_run_bytes = 192,
                       long_run_bytes = 1024;
/// The bytes of a word in which a staged array of small elements is read.
constexpr int source_word_bytes = 8;

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

// Whether computing an element again leaves the same result: the body allows it, and does not read
// what it writes.
bool Planner::may_repeat_elements() const {
  struct Range {
    std::uintptr_t first, last;
  };
  const auto range_of = [&](int k) {
    Range range{first_address(k), first_address(k)};
    for (int axis = 0; axis <= inner_; ++axis) {
      const std::int64_t stride = axes_.stride(axis, k);
      const std::uintptr_t length = bytes((axes_.extent(axis) - 1) * stride, k);
      (stride < 0 ? range.first : range.last) += length;
    }
    range.last += static_cast<std::uintptr_t>(itemsize(k));
    return range;
  };
  for (int k = 0; k < axes_.operands() && may_repeat_; ++k) {
    if (array(k).role == ArrayRole::mask) return false;
    if (!is_written(array(k).role)) continue;
    if (array(k).role != ArrayRole::write) return false;
    const Range written = range_of(k);
    for (int other = 0; other < axes_.operands(); ++other) {
      if (!is_loaded(array(other).role)) continue;
      const Range read = range_of(other);
      if (read.first < written.last && written.first < read.last) return false;
    }
  }
  return may_repeat_;
}

// Whether the offset of array k is a multiple of the number of the element in the axes from `first`
// on, in the order of the leader.
bool Planner::is_linear(int k, int first) const {
  std::int64_t size = 1;
  for (int axis = inner_; axis >= first; size *= tile_.side(axis--))
    if (axes_.stride(axis, k) != axes_.stride(inner_, k) * size) return false;
  return true;
}

// Chooses along which axes the tile's elements of the leader are visited in packs, and the width.
// Packs of 16 bytes are written faster only if elements are small (H200).
void Planner::choose_leader_run(PlanShape& shape) {
  const int size = itemsize(leader_);
  const std::int64_t least = size <= 2 ? leader_run_bytes : 8 * size;
  int first = inner_;
  std::int64_t run = tile_.side(inner_);
  while (first > 0 && run * size < least && tile_.side(first) == axes_.extent(first) &&
         tile_.side(first - 1) > 1) {
    bool fits = true;
    for (int k = 0; k < axes_.operands(); ++k)
      fits &= tile_.is_staged(k) || is_linear(k, first - 1);
    if (!fits) break;
    run *= tile_.side(--first);
  }
  tile_.run_axes = inner_ - first + 1;
  int width = size > 2 ? 1 : run >= 64 / size ? 16 / size : run >= 12 / size ? 4 / size : 1;
  while (width > max_width_) width /= 2;
  // Packs are read from shared memory by words of 4 bytes.
  for (int k = 0; k < axes_.operands(); ++k)
    if (tile_.is_staged(k) && width * itemsize(k) < 4) width = 1;
  shape.width = static_cast<std::uint8_t>(width);
}

// The axes, the first in the order of staged array k, along which the tile is read.
Planner::Run Planner::source_run(int k) const {
  const Walk::AxisOrder order = axes_.order(k);
  const int word = itemsize(k) <= 2 ? source_word_bytes : itemsize(k);
  Run run{0, 1};
  for (int i = 0; i < axes_.rank() && run.size * itemsize(k) < source_run_bytes; ++i) {
    const int axis = order[static_cast<std::size_t>(i)];
    const std::int64_t next = run.size * tile_.side(axis);
    const bool is_short = run.size * itemsize(k) < sector_bytes;
    if (i > 0 && (axes_.stride(axis, k) != run.size ||
                  (!is_short && next * itemsize(k) > word * std::int64_t{block_threads})))
      break;
    run = {i + 1, next};
    if (tile_.side(axis) < axes_.extent(axis)) break;
  }
  return run;
}

// Divides the long runs of staged arrays along an axis that the tile divides anyway, so that the
// threads have several runs.
void Planner::split_long_runs() {
  tile_.parts = {};
  for (int k = 0; k < axes_.operands(); ++k) {
    if (!tile_.is_staged(k)) continue;
    const Run run = source_run(k);
    const int axis = axes_.order(k)[static_cast<std::size_t>(std::max(run.axes, 1) - 1)];
    std::int64_t& side = tile_.sides[static_cast<std::size_t>(axis)];
    const std::int64_t others = run.size / side * itemsize(k);
    if (run.size * itemsize(k) <= long_run_bytes || side == axes_.extent(axis)) continue;
    const auto part = static_cast<std::int64_t>(
        std::bit_floor(static_cast<std::uint64_t>(long_run_bytes / others)));
    if (part < 8) continue;
    side = side / part * part;
    tile_.parts[static_cast<std::size_t>(k)] = part;
  }
}

// Sets the pattern of each array.
void Planner::choose_merged_patterns(PlanShape& shape) const {
  for (int k = 0; k < axes_.operands(); ++k) {
    AccessPattern& pattern = shape.patterns[static_cast<std::size_t>(k)];
    pattern = k == leader_ ? AccessPattern::contiguous : AccessPattern::strided;
    if (!tile_.is_staged(k)) continue;
    const bool in_words = itemsize(k) <= 2 && axes_.stride(axes_.order(k)[0], k) == 1 &&
                          source_run(k).size * itemsize(k) >= source_word_bytes;
    pattern = in_words ? AccessPattern::merged_in_words : AccessPattern::merged;
  }
}

// Chooses the steps between elements of the tile along its axes, and returns their number with
// unused ones. Elements of a run of the leader are adjacent. The axes behind the run have odd
// steps: elements that are adjacent in a staged array are then in different banks.
std::int64_t Planner::choose_tile_steps(int staged) {
  std::int64_t next = 1, size = 1;
  const auto add = [&](int axis, std::int64_t step) {
    tile_.steps[static_cast<std::size_t>(axis)] = step;
    size += (tile_.side(axis) - 1) * step;
    next = step * tile_.side(axis);
  };
  const int first_of_run = axes_.rank() - tile_.run_axes;
  for (int axis = inner_; axis >= first_of_run; --axis) add(axis, next);
  const Walk::AxisOrder order = axes_.order(staged);
  for (int i = 0; i < axes_.rank(); ++i) {
    const int axis = order[static_cast<std::size_t>(i)];
    if (axis < first_of_run && tile_.side(axis) > 1) add(axis, next | 1);
  }
  return size;
}

bool Planner::try_make_merged(PlanShape& shape) {
  const std::int64_t elements = axes_.size() / joined_;
  if (has_odd_itemsize_ || inner_ == 0 || elements < min_merged_size ||
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
  if (count == 1 || !may_repeat_elements()) return false;
  const std::int64_t one = widest <= 2 ? small_tile_bytes : tile_bytes;
  std::int64_t size = std::min({max_merged, one / widest, max_merged_bytes / all_bytes,
                                std::max(elements / merged_tiles, min_merged)});
  PlanShape result = shape;
  result.cell_chunks = static_cast<std::uint8_t>((size + size / 4) / 128);
  for (;; size -= size / 8) {
    if (size < min_side) return false;
    tile_.sides = axes_.tile_sides(std::span(operands.data(), count), size);
    // Tiles of equal sides overlap less.
    for (int axis = 0; axis <= inner_; ++axis) {
      std::int64_t& side = tile_.sides[static_cast<std::size_t>(axis)];
      side = ceil_div(axes_.extent(axis), ceil_div(axes_.extent(axis), side));
    }
    if (tile_.side(inner_) == 1) return false;
    split_long_runs();
    choose_leader_run(result);
    if (choose_tile_steps(operands[1].operand) <= 128 * result.cell_chunks) break;
  }
  choose_merged_patterns(result);
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

// The words of a run that threads access side by side, so that few threads of a block have none:
// all of them, or a part of up to a quarter.
std::int64_t words_side_by_side(std::int64_t words) noexcept {
  std::int64_t best = 1, best_use = 0;
  const std::int64_t least = ceil_div(words, block_threads);
  for (std::int64_t parts = least; parts < least + 4; ++parts) {
    const std::int64_t part = ceil_div(words, parts);
    // Of 256 * 256 threads and words.
    const std::int64_t use = block_threads / part * part * (256 * words / (part * parts));
    if (use > best_use) best = part;
    best_use = std::max(best_use, use);
  }
  return best;
}

// number / divisor as the upper half of a product, if number * divisor < 2^32 and divisor > 1.
constexpr std::int64_t reciprocal(std::int64_t divisor) noexcept {
  return 0xffffffff / divisor + 1;
}

/// An axis of a tile, for TileTerms.
struct TileAxis {
  std::int64_t side, step, stride;
};

// Appends a TileTerms (merged.cuh) of `inner` terms: for the axes, fastest first, and zeros.
void add_terms(std::span<const TileAxis> axes, int inner, std::vector<std::int64_t>& numbers) {
  const std::size_t begin = numbers.size(), terms = static_cast<std::size_t>(inner);
  numbers.resize(begin + 3 * terms, 0);
  std::int64_t faster = 1, index_before = 0, offset_before = 0;
  for (std::size_t n = 0; n < axes.size(); ++n) {
    const TileAxis& axis = axes[n];
    if (n > 0) numbers[begin + n] = reciprocal(faster);
    numbers[begin + terms + n] = axis.step - index_before;
    numbers[begin + 2 * terms + n] = axis.stride - offset_before;
    faster *= axis.side;
    index_before = axis.side * axis.step;
    offset_before = axis.side * axis.stride;
  }
}

// Appends a TileOrder: of a staged array its own, of others the leader's.
void Planner::add_order(const PlanShape& shape, int k, std::vector<std::int64_t>& numbers) const {
  const bool is_staged = tile_.is_staged(k);
  const int outer = axes_.rank() - shape.inner;
  const Walk::AxisOrder order = axes_.order(k);
  const int source_axes = is_staged ? source_run(k).axes : 0;
  std::vector<TileAxis> in_run, of_runs;
  for (int i = 0; i < axes_.rank(); ++i) {
    const int axis = is_staged ? order[static_cast<std::size_t>(i)] : inner_ - i;
    if (axis < outer) continue;
    const bool is_in_run = is_staged ? i < source_axes || in_run.empty() : i < tile_.run_axes;
    (is_in_run ? in_run : of_runs)
        .push_back(
            {tile_.side(axis), tile_.steps[static_cast<std::size_t>(axis)], axes_.stride(axis, k)});
  }
  if (const std::int64_t part = tile_.parts[static_cast<std::size_t>(k)]; is_staged && part > 0) {
    TileAxis& last = in_run.back();
    of_runs.insert(of_runs.begin(), {last.side / part, last.step * part, last.stride * part});
    last.side = part;
  }
  const auto size = [](std::span<const TileAxis> axes) {
    std::int64_t product = 1;
    for (const TileAxis& axis : axes) product *= axis.side;
    return product;
  };
  const std::int64_t run = size(in_run);
  std::int64_t words = std::max<std::int64_t>(run / shape.width, 2);
  if (is_staged) {
    const bool in_words =
        shape.patterns[static_cast<std::size_t>(k)] == AccessPattern::merged_in_words;
    words = words_side_by_side(ceil_div(run, in_words ? source_word_bytes / itemsize(k) : 1));
  }
  numbers.insert(numbers.end(), {run, size(of_runs), words, words > 1 ? reciprocal(words) : 0});
  add_terms(in_run, shape.inner, numbers);
  add_terms(of_runs, shape.inner, numbers);
}

void Planner::add_tile(const PlanShape& shape, std::vector<std::int64_t>& numbers) const {
  if (shape.kind != PlanShape::Kind::merged) return;
  for (int axis = 0; axis <= inner_; ++axis)
    numbers.push_back(ceil_div(axes_.extent(axis), tile_.side(axis)));
  for (int axis = 0; axis <= inner_; ++axis) numbers.push_back(tile_.side(axis));
  for (int k = 0; k < axes_.operands(); ++k)
    if ((shape.shares_strides >> k & 1) == 0) add_order(shape, k, numbers);
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
                  widest_pack(arrays, options), options.may_repeat);
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
