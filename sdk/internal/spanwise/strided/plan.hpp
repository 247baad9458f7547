// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "spanwise/core/layout.hpp"

/// One loop over strided arrays: a plan determines how the elements are visited, a body what is
/// computed for each.
namespace spanwise::strided {

/// Arrays of one loop: 24 of a body, a mask and the index.
inline constexpr int max_arrays = 26;

/// How a loop uses an array.
enum class ArrayRole : std::uint8_t {
  read,            ///< elements are loaded before the body runs
  mask,            ///< bool: written arrays change only where it is true; the last array
  write,           ///< every element is stored after the body
  update,          ///< loaded before the body, stored after it
  read_in_place,   ///< the body refers to the element in memory
  write_in_place,  ///< the same, and may change it
  index,           ///< no memory: the body gets the element's offset in the layout
};
constexpr bool is_loaded(ArrayRole role) noexcept {
  return role == ArrayRole::read || role == ArrayRole::mask;
}
constexpr bool is_written(ArrayRole role) noexcept {
  return role == ArrayRole::write || role == ArrayRole::update || role == ArrayRole::write_in_place;
}

/// The memory of an array along the last axis, of which PlanShape::width elements are accessed at a
/// time.
enum class AccessPattern : std::uint8_t {
  contiguous,           ///< adjacent elements, each pack aligned as a whole
  constant,             ///< one element for all
  reversed,             ///< as contiguous, backwards; for rows
  strided,              ///< any strides, or not aligned
  transposed,           ///< for tiles: along the axis before it, through shared memory
  transposed_in_packs,  ///< the same with aligned accesses of 16 bytes
  unaligned,            ///< for rows: adjacent elements, read as aligned 16 bytes and shifted
  cells,                ///< for cells: each cell dense in another order; through shared memory
  planes,               ///< for cells: contiguous from cell to cell; through shared memory
  merged,               ///< for merged: another order; through shared memory
  merged_in_words,      ///< the same, read by 16 bytes in runs of small elements
};

/// The properties of a plan that determine a kernel's source, together with the body.
struct alignas(8) PlanShape {
  /// dense: every array is contiguous or constant and all have one order; a thread visits `packs`
  /// packs of `width` elements. rows: the same along the last of `rank` axes; packs of one element
  /// where wider ones are not aligned. tiles: arrays are contiguous along the last axis
  /// or along the one before it; a block visits tile_rows * tile_columns elements of these axes.
  /// cells: the last `inner` axes are a small cell; along the axis before them, each array is
  /// contiguous, or its cells are adjacent; a block visits as many cells as have up to cell_chunks
  /// * 128 elements. merged: a block visits a tile of the last `inner` axes, in which arrays of any
  /// orders have long runs of adjacent elements, which several axes may form; in shared memory it
  /// has up to cell_chunks * 128 elements.
  enum class Kind : std::uint8_t { dense, rows, tiles, cells, merged };

  Kind kind = Kind::dense;
  std::uint8_t width = 1;
  std::uint8_t packs = 1;  ///< for dense and rows
  std::uint8_t rank = 1;   ///< except dense
  /// For tiles: extents along the last axis but one (s) and the last axis (t), powers of two, 16 or
  /// more.
  std::uint8_t tile_rows = 1, tile_columns = 1;
  std::uint8_t cell_chunks = 1;  ///< for cells and merged
  std::uint8_t inner = 0;        ///< for cells and merged
  bool has_planes = false;       ///< for cells: the leader is contiguous from cell to cell
  /// For rows: packs are aligned in the leader, so the first pack of a row may be incomplete.
  bool is_shifted = false;
  bool is_large = false;   ///< elements or offsets that 32 bits cannot count
  bool has_tail = false;   ///< for rows: the last pack of a row may be incomplete
  std::uint8_t count = 0;  ///< of arrays
  /// For the CPU: dense or rows, and a block is one thread that visits serial_steps elements.
  bool is_serial = false;
  std::array<AccessPattern, 30> patterns{};  ///< of max_arrays; more, so that there is no padding
  /// Bit k: array k, which is written, has the strides of the leader.
  std::uint32_t shares_strides = 0;

  // By words: a comparison of each pattern takes a noticeable part of a small call.
  friend bool operator==(const PlanShape& a, const PlanShape& b) noexcept {
    using Words = std::array<std::uint64_t, 6>;
    return std::bit_cast<Words>(a) == std::bit_cast<Words>(b);
  }

  bool has_constants() const noexcept {
    const auto end = patterns.begin() + count;
    return std::find(patterns.begin(), end, AccessPattern::constant) != end;
  }
  /// Whether a block visits several of StridedPlan::steps().
  bool has_steps() const noexcept { return kind == Kind::dense || kind == Kind::rows; }
  /// Elements, packs or tiles per block, as StridedPlan::steps() counts them.
  std::int64_t steps_per_block() const noexcept;
  std::int64_t threads_per_block() const noexcept;
};

static_assert(std::has_unique_object_representations_v<PlanShape>);

/// Threads per block of every kernel on a GPU.
inline constexpr int block_threads = 256;
/// Elements per block on the CPU: some microseconds of work.
inline constexpr std::int64_t serial_steps = 1 << 14;

inline std::int64_t PlanShape::threads_per_block() const noexcept {
  return is_serial ? 1 : block_threads;
}
inline std::int64_t PlanShape::steps_per_block() const noexcept {
  if (is_serial) return serial_steps;
  if (!has_steps()) return 1;
  return std::int64_t{block_threads} * packs * (kind == Kind::rows ? 1 : width);
}

/// An array of a plan.
struct PlanArray {
  const Layout* layout;    ///< broadcasts to the plan's shape; the offset is ignored
  std::uintptr_t address;  ///< of element (0, ..., 0)
  int itemsize;
  ArrayRole role;
};

/// What the body needs.
struct PlanOptions {
  int max_width = 16;  ///< 1 for a body that needs elements one by one
  /// PlanShape::packs, unless one pack of up to four elements writes 16 bytes: then it is 1. To be
  /// set to 1 for a body that is too long to be repeated.
  int packs = 2;
  int row_packs = 1;  ///< the same for rows of packs below 16 bytes, or whose loads are constant
  /// The body only moves bytes of two arrays of one dtype: it may get several adjacent elements as
  /// one, of up to 16 bytes.
  bool joins_elements = false;
  bool is_serial = false;  ///< PlanShape::is_serial; needs max_width 1
};

/// How one call visits its arrays: index arithmetic only, no memory is accessed.
///
/// Axes are merged and ordered as those of a Walk that goes forward in the leader, the first
/// written array; for tiles one axis is moved next to the last, for merged those of a tile are
/// moved to the end.
class StridedPlan {
 public:
  /// `shape` has at least one element. Several written arrays do not share memory.
  void make(const Shape& shape, std::span<const PlanArray> arrays, const PlanOptions& options = {});

  /// Plans arrays, and the index, that all are C-contiguous, aligned to their packs, and have this
  /// shape; arrays that are only read may have one element instead. Returns false and changes
  /// nothing for others.
  bool try_make_dense(const Shape& shape, std::span<const PlanArray> arrays,
                      const PlanOptions& options = {}) noexcept;

  const PlanShape& shape() const noexcept { return shape_; }
  /// Elements for dense, packs for rows, blocks for other kinds.
  std::int64_t steps() const noexcept { return steps_; }
  std::int64_t blocks() const noexcept { return (steps_ - 1) / shape_.steps_per_block() + 1; }
  /// The offset of array k's first visited element from element (0, ..., 0), in elements.
  std::int64_t offset(int k) const noexcept { return has_offsets_ ? offsets_[index(k)] : 0; }
  /// Elements that were joined to one; all numbers but offset() count joined ones.
  int joined() const noexcept { return joined_; }
  /// Whether all arrays are contiguous in one order, aligned or not.
  bool is_contiguous() const noexcept { return is_contiguous_; }
  /// Except for dense: the extents, then the strides of each array in elements, as a kernel gets
  /// them. Arrays of PlanShape::shares_strides are left out. For merged, the other members of
  /// MergedWalk (merged.cuh) follow.
  std::span<const std::int64_t> numbers() const noexcept { return numbers_; }

 private:
  static std::size_t index(int k) noexcept { return static_cast<std::size_t>(k); }

  PlanShape shape_;
  std::int64_t steps_ = 0;
  int joined_ = 1;
  bool is_contiguous_ = false, has_offsets_ = false;
  std::vector<std::int64_t> numbers_;
  std::array<std::int64_t, max_arrays> offsets_;  ///< set if has_offsets_
};

}  // namespace spanwise::strided
