// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "planner.hpp"
#include "spanwise/runtime/kernel_types.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace spanwise::strided {
namespace {

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

}  // namespace

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
  const bool is_packed = !shape.is_serial && is_memory(leader_) &&
                         axes_.stride(inner_, leader_) == 1 &&
                         (try_make_rows(shape) || try_make_cells(shape) || try_make_tiles(shape) ||
                          try_make_mixed_rows(shape));
  if (!is_packed) {
    shape.kind = PlanShape::Kind::rows;
    shape.width = 1;
    shape.has_tail = false;
  }
  shape.rank = static_cast<std::uint8_t>(axes_.rank());
  if (shape.kind != PlanShape::Kind::cells) store_patterns(shape);
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

bool Planner::try_make_tiles(PlanShape& shape) {
  if (axes_.extent(inner_) < min_side || has_odd_itemsize_) return false;
  const std::optional<int> s = find_transposed_axis();
  if (!s) return false;
  axes_.move(*s, inner_ - 1);
  shape.kind = PlanShape::Kind::tiles;
  try_choose_leader_width(shape);
  choose_sides(shape);
  return shape.tile_rows >= min_side;  // many arrays may leave no room for their tiles
}

void Planner::choose_sides(PlanShape& shape) const {
  int widest = 1, transposed_bytes = 0;
  for (int k = 0; k < axes_.operands(); ++k) {
    if (!is_memory(k)) continue;
    widest = std::max(widest, itemsize(k));
    if (is_transposed(k, inner_ - 1)) transposed_bytes += itemsize(k);
  }
  const int bits = std::countr_zero(static_cast<unsigned>(tile_bytes)) -
                   std::countr_zero(static_cast<unsigned>(widest));
  int tile_rows = 1 << (bits + 1) / 2, tile_columns = 1 << bits / 2;
  const auto fit = [](int& side, std::int64_t extent) {
    while (side > min_side && side >= 2 * extent) side /= 2;
  };
  fit(tile_rows, axes_.extent(inner_ - 1));
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
  const bool is_tiled = shape.kind == PlanShape::Kind::tiles;
  // A shifted row has up to width - 1 elements before its first whole pack.
  const std::int64_t extent = axes_.extent(inner_) + (shape.is_shifted ? shape.width - 1 : 0);
  std::int64_t steps = ceil_div(extent, is_tiled ? shape.tile_columns : shape.width);
  for (int axis = 0; axis < inner_; ++axis)
    steps *= is_tiled && axis == inner_ - 1 ? ceil_div(axes_.extent(axis), shape.tile_rows)
                                            : axes_.extent(axis);
  return steps;
}

}  // namespace spanwise::strided
