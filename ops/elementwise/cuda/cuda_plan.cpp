// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda_plan.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <optional>

namespace spanwise::ops {
namespace {

/// The minimal extents for a transposition through shared memory, as for copies; and the minimal
/// row for packs if an operand is read element by element.
constexpr std::int64_t min_side = 16, min_row = 32;
/// Shared memory of one operand, and of all; the latter is available without an attribute.
constexpr int tile_bytes = 16 << 10, shared_bytes = 48 << 10;
/// The unit of memory transactions.
constexpr std::int64_t sector_bytes = 32;

std::int64_t ceil_div(std::int64_t n, std::int64_t unit) { return (n + unit - 1) / unit; }

class CudaPlanner {
 public:
  CudaPlanner(KernelLayout& layout, CudaWalk& walk, std::span<const OperandInfo> operands)
      : layout_(layout), walk_(walk), operands_(operands), inner_(walk.rank() - 1) {
    for (std::size_t i = 0; i < operands.size(); ++i) {
      widest_ = std::max(widest_, operands[i].itemsize);
      if (operands[i].pattern == nullptr) result_ = static_cast<int>(i);
    }
  }

  void plan() {
    for (int axis = 0; axis <= inner_; ++axis)
      if (walk_.stride(axis, result_) < 0) walk_.reverse(axis);
    if (walk_.stride(inner_, result_) == 1 && (make_rows() || make_tiles() || make_mixed_rows()))
      return store_patterns();
    layout_.kind = KernelLayout::Kind::strided;
    layout_.width = 1;
  }

 private:
  std::uintptr_t bytes(std::int64_t elements, int operand) const {
    return static_cast<std::uintptr_t>(elements) *
           static_cast<std::uintptr_t>(operands_[static_cast<std::size_t>(operand)].itemsize);
  }

  // Whether packs of `width` elements along the axis `along`, the first of them `ahead` elements
  // after the walk's first element, are aligned at all indices of the other axes.
  bool is_aligned(int operand, int along, std::int64_t ahead, std::int64_t width) const {
    const std::uintptr_t first = operands_[static_cast<std::size_t>(operand)].address +
                                 bytes(walk_.offset(operand) + ahead, operand);
    bool aligned = first % bytes(width, operand) == 0;
    for (int axis = 0; axis <= inner_; ++axis)
      if (axis != along) aligned &= walk_.stride(axis, operand) % width == 0;
    return aligned;
  }

  AccessPattern pattern_of(int operand, std::int64_t width) const {
    const std::int64_t step = walk_.stride(inner_, operand);
    if (step == 0) return AccessPattern::constant;
    if (step == 1 && is_aligned(operand, inner_, 0, width)) return AccessPattern::contiguous;
    if (step == -1 && is_aligned(operand, inner_, 1 - width, width)) return AccessPattern::reversed;
    return AccessPattern::strided;
  }

  // Chooses the widest packs that `fits(width)` accepts; false if only packs of one element fit.
  template <class F>
  bool choose_width(F&& fits) {
    for (layout_.width = std::max(1, 16 / widest_); layout_.width > 1; layout_.width /= 2)
      if (fits(layout_.width)) return true;
    return false;
  }

  // Every array is read in packs, or is constant along the row.
  bool make_rows() {
    layout_.kind = KernelLayout::Kind::rows;
    for (int operand = 0; operand < walk_.operands(); ++operand)
      if (std::abs(walk_.stride(inner_, operand)) > 1) return false;
    return choose_width([&](int width) {
      if (walk_.extent(inner_) % width != 0) return false;
      for (int operand = 0; operand < walk_.operands(); ++operand)
        if (pattern_of(operand, width) == AccessPattern::strided) return false;
      return true;
    });
  }

  // Only the result is accessed in packs.
  bool make_mixed_rows() {
    layout_.kind = KernelLayout::Kind::rows;
    if (walk_.extent(inner_) < min_row) return false;
    if (!choose_width(
            [&](int width) { return pattern_of(result_, width) == AccessPattern::contiguous; }))
      return false;
    layout_.has_tail = walk_.extent(inner_) % layout_.width != 0;
    return true;
  }

  std::uintptr_t stride_bytes(int axis, int operand) const {
    return bytes(std::abs(walk_.stride(axis, operand)), operand);
  }
  bool is_transposed(int operand, int axis) const {
    return operand != result_ && stride_bytes(inner_, operand) > sector_bytes &&
           walk_.stride(axis, operand) != 0 && stride_bytes(axis, operand) <= sector_bytes;
  }
  // For the first operand that is transposed relative to the result, the axis with its smallest
  // stride.
  std::optional<int> find_transposed_axis() {
    for (int operand = 0; operand < walk_.operands(); ++operand) {
      std::optional<int> found;
      for (int axis = 0; axis < inner_; ++axis)
        if (walk_.extent(axis) >= min_side && is_transposed(operand, axis) &&
            (!found || stride_bytes(axis, operand) < stride_bytes(*found, operand)))
          found = axis;
      if (!found) continue;
      if (walk_.stride(*found, operand) < 0) walk_.reverse(*found);
      return found;
    }
    return {};
  }

  bool make_tiles() {
    if (walk_.extent(inner_) < min_side) return false;
    const std::optional<int> s = find_transposed_axis();
    if (!s) return false;
    walk_.move_next_to_last(*s);
    layout_.kind = KernelLayout::Kind::tiles;
    if (!choose_width(
            [&](int width) { return pattern_of(result_, width) == AccessPattern::contiguous; }))
      layout_.width = 1;
    choose_sides();
    return layout_.side_s >= min_side;  // many operands may leave no room for their tiles
  }

  void choose_sides() {
    const int bits =
        std::countr_zero(static_cast<unsigned>(tile_bytes)) -
        std::countr_zero(static_cast<unsigned>(std::bit_ceil(static_cast<unsigned>(widest_))));
    layout_.side_s = 1 << (bits + 1) / 2;
    layout_.side_t = 1 << bits / 2;
    const auto fit = [](int& side, std::int64_t extent) {
      while (side > min_side && side >= 2 * extent) side /= 2;
    };
    fit(layout_.side_s, walk_.extent(inner_ - 1));
    fit(layout_.side_t, walk_.extent(inner_));
    int transposed_bytes = 0;
    for (int operand = 0; operand < walk_.operands(); ++operand)
      if (is_transposed(operand, inner_ - 1))
        transposed_bytes += operands_[static_cast<std::size_t>(operand)].itemsize;
    while (transposed_bytes * layout_.side_s * layout_.side_t > shared_bytes) layout_.side_s /= 2;
  }

  AccessPattern tile_pattern(int operand) const {
    const int s = inner_ - 1;
    if (is_transposed(operand, s)) {
      const int width = 16 / operands_[static_cast<std::size_t>(operand)].itemsize;
      const bool in_packs =
          width > 1 && walk_.stride(s, operand) == 1 && is_aligned(operand, s, 0, width);
      return in_packs ? AccessPattern::transposed_in_packs : AccessPattern::transposed;
    }
    const AccessPattern pattern = pattern_of(operand, layout_.width);
    return pattern == AccessPattern::reversed ? AccessPattern::strided : pattern;
  }

  void store_patterns() {
    const bool is_tiled = layout_.kind == KernelLayout::Kind::tiles;
    for (int operand = 0; operand < walk_.operands(); ++operand)
      if (AccessPattern* pattern = operands_[static_cast<std::size_t>(operand)].pattern;
          pattern != nullptr)
        *pattern = is_tiled ? tile_pattern(operand) : pattern_of(operand, layout_.width);
  }

  KernelLayout& layout_;
  CudaWalk& walk_;
  std::span<const OperandInfo> operands_;
  int inner_, widest_ = 1, result_ = 0;
};

}  // namespace

void plan_on_cuda(KernelLayout& layout, CudaWalk& walk, std::span<const OperandInfo> operands) {
  layout.rank = walk.rank();
  CudaPlanner(layout, walk, operands).plan();
}

std::int64_t steps_of(const KernelLayout& layout, const CudaWalk& walk) noexcept {
  const int inner = walk.rank() - 1;
  const bool is_tiled = layout.kind == KernelLayout::Kind::tiles;
  std::int64_t steps = ceil_div(walk.extent(inner), is_tiled ? layout.side_t : layout.width);
  for (int axis = 0; axis < inner; ++axis)
    steps *= is_tiled && axis == inner - 1 ? ceil_div(walk.extent(axis), layout.side_s)
                                           : walk.extent(axis);
  return steps;
}

}  // namespace spanwise::ops
