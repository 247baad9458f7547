// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda_plan.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <optional>

namespace spanwise::ops {
namespace {

/// Sides of a crossing that are worth a pass through shared memory, as for copies; and rows that
/// are worth packs where an operand has to be read one by one.
constexpr std::int64_t least_side = 16, least_row = 32;
/// Of one operand in a tile; of all of them, what a block has without asking.
constexpr int tile_bytes = 16 << 10, shared_bytes = 48 << 10;
/// Elements so near share what the memory moves at once.
constexpr std::int64_t sector_bytes = 32;

std::int64_t rounded_up(std::int64_t n, std::int64_t unit) { return (n + unit - 1) / unit; }

class CudaPlanner {
 public:
  CudaPlanner(KernelLayout& layout, CudaWalk& walk, std::span<const OperandInfo> strands)
      : layout_(layout), walk_(walk), strands_(strands), inner_(walk.rank() - 1) {
    for (std::size_t i = 0; i < strands.size(); ++i) {
      widest_ = std::max(widest_, strands[i].itemsize);
      if (strands[i].pattern == nullptr) result_ = static_cast<int>(i);
    }
  }

  void plan() {
    for (int axis = 0; axis <= inner_; ++axis)
      if (walk_.stride(axis, result_) < 0) walk_.turn(axis);
    if (walk_.stride(inner_, result_) == 1 && (make_rows() || make_tiles() || make_mixed_rows()))
      return note_lies();
    layout_.kind = KernelLayout::Kind::strided;
    layout_.width = 1;
  }

 private:
  std::uintptr_t bytes(std::int64_t elements, int operand) const {
    return static_cast<std::uintptr_t>(elements) *
           static_cast<std::uintptr_t>(strands_[static_cast<std::size_t>(operand)].itemsize);
  }

  // Packs of `width` elements along `axis`, the first `ahead` elements from where the walk begins,
  // are aligned wherever on the other axes they are.
  bool is_aligned(int operand, int along, std::int64_t ahead, std::int64_t width) const {
    const std::uintptr_t first = strands_[static_cast<std::size_t>(operand)].address +
                                 bytes(walk_.offset(operand) + ahead, operand);
    bool aligned = first % bytes(width, operand) == 0;
    for (int axis = 0; axis <= inner_; ++axis)
      if (axis != along) aligned &= walk_.stride(axis, operand) % width == 0;
    return aligned;
  }

  AccessPattern lie_of(int operand, std::int64_t width) const {
    const std::int64_t step = walk_.stride(inner_, operand);
    if (step == 0) return AccessPattern::stays;
    if (step == 1 && is_aligned(operand, inner_, 0, width)) return AccessPattern::run;
    if (step == -1 && is_aligned(operand, inner_, 1 - width, width)) return AccessPattern::turned;
    return AccessPattern::apart;
  }

  // The widest packs that `fits(width)` takes; false where there are none of more than an element.
  template <class F>
  bool choose_width(F&& fits) {
    for (layout_.width = std::max(1, 16 / widest_); layout_.width > 1; layout_.width /= 2)
      if (fits(layout_.width)) return true;
    return false;
  }

  // Every array is read by packs, or stays where it is.
  bool make_rows() {
    layout_.kind = KernelLayout::Kind::rows;
    for (int operand = 0; operand < walk_.operands(); ++operand)
      if (std::abs(walk_.stride(inner_, operand)) > 1) return false;
    return choose_width([&](int width) {
      if (walk_.extent(inner_) % width != 0) return false;
      for (int operand = 0; operand < walk_.operands(); ++operand)
        if (lie_of(operand, width) == AccessPattern::apart) return false;
      return true;
    });
  }

  // The result is written by packs.
  bool make_mixed_rows() {
    layout_.kind = KernelLayout::Kind::rows;
    if (walk_.extent(inner_) < least_row) return false;
    if (!choose_width([&](int width) { return lie_of(result_, width) == AccessPattern::run; }))
      return false;
    layout_.has_tail = walk_.extent(inner_) % layout_.width != 0;
    return true;
  }

  std::uintptr_t apart(int axis, int operand) const {
    return bytes(std::abs(walk_.stride(axis, operand)), operand);
  }
  bool crosses(int operand, int axis) const {
    return operand != result_ && apart(inner_, operand) > sector_bytes &&
           walk_.stride(axis, operand) != 0 && apart(axis, operand) <= sector_bytes;
  }
  // The axis of the first operand that crosses the result, along which that one is nearest.
  std::optional<int> find_crossing() {
    for (int operand = 0; operand < walk_.operands(); ++operand) {
      std::optional<int> found;
      for (int axis = 0; axis < inner_; ++axis)
        if (walk_.extent(axis) >= least_side && crosses(operand, axis) &&
            (!found || apart(axis, operand) < apart(*found, operand)))
          found = axis;
      if (!found) continue;
      if (walk_.stride(*found, operand) < 0) walk_.turn(*found);
      return found;
    }
    return {};
  }

  bool make_tiles() {
    if (walk_.extent(inner_) < least_side) return false;
    const std::optional<int> s = find_crossing();
    if (!s) return false;
    walk_.move_next_to_last(*s);
    layout_.kind = KernelLayout::Kind::tiles;
    if (!choose_width([&](int width) { return lie_of(result_, width) == AccessPattern::run; }))
      layout_.width = 1;
    choose_sides();
    return layout_.side_s >= least_side;  // many operands may leave no room for their tiles
  }

  void choose_sides() {
    const int bits =
        std::countr_zero(static_cast<unsigned>(tile_bytes)) -
        std::countr_zero(static_cast<unsigned>(std::bit_ceil(static_cast<unsigned>(widest_))));
    layout_.side_s = 1 << (bits + 1) / 2;
    layout_.side_t = 1 << bits / 2;
    const auto fit = [](int& side, std::int64_t extent) {
      while (side > least_side && side >= 2 * extent) side /= 2;
    };
    fit(layout_.side_s, walk_.extent(inner_ - 1));
    fit(layout_.side_t, walk_.extent(inner_));
    int kept = 0;
    for (int operand = 0; operand < walk_.operands(); ++operand)
      if (crosses(operand, inner_ - 1))
        kept += strands_[static_cast<std::size_t>(operand)].itemsize;
    while (kept * layout_.side_s * layout_.side_t > shared_bytes) layout_.side_s /= 2;
  }

  AccessPattern lie_in_tiles(int operand) const {
    const int s = inner_ - 1;
    if (crosses(operand, s)) {
      const int width = 16 / strands_[static_cast<std::size_t>(operand)].itemsize;
      const bool in_packs =
          width > 1 && walk_.stride(s, operand) == 1 && is_aligned(operand, s, 0, width);
      return in_packs ? AccessPattern::crosses_in_packs : AccessPattern::crosses;
    }
    const AccessPattern pattern = lie_of(operand, layout_.width);
    return pattern == AccessPattern::turned ? AccessPattern::apart : pattern;
  }

  void note_lies() {
    const bool is_tiled = layout_.kind == KernelLayout::Kind::tiles;
    for (int operand = 0; operand < walk_.operands(); ++operand)
      if (AccessPattern* pattern = strands_[static_cast<std::size_t>(operand)].pattern;
          pattern != nullptr)
        *pattern = is_tiled ? lie_in_tiles(operand) : lie_of(operand, layout_.width);
  }

  KernelLayout& layout_;
  CudaWalk& walk_;
  std::span<const OperandInfo> strands_;
  int inner_, widest_ = 1, result_ = 0;
};

}  // namespace

void plan_on_cuda(KernelLayout& layout, CudaWalk& walk, std::span<const OperandInfo> strands) {
  layout.rank = walk.rank();
  CudaPlanner(layout, walk, strands).plan();
}

std::int64_t steps_of(const KernelLayout& layout, const CudaWalk& walk) noexcept {
  const int inner = walk.rank() - 1;
  const bool is_tiled = layout.kind == KernelLayout::Kind::tiles;
  std::int64_t steps = rounded_up(walk.extent(inner), is_tiled ? layout.side_t : layout.width);
  for (int axis = 0; axis < inner; ++axis)
    steps *= is_tiled && axis == inner - 1 ? rounded_up(walk.extent(axis), layout.side_s)
                                           : walk.extent(axis);
  return steps;
}

}  // namespace spanwise::ops
