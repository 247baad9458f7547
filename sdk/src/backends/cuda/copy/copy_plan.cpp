// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/copy/copy_plan.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "backends/cuda/copy/copy_plan_steps.hpp"

namespace spanwise::cuda {
namespace {

constexpr int side_of_tile = 32;

}  // namespace

FastDivisor fast_divisor(std::int64_t extent) noexcept {
  if (extent <= 0 || extent > std::numeric_limits<std::int32_t>::max()) return {1, 0};
  const auto divisor = bits(extent);
  const int log2 = std::bit_width(divisor - 1);  // rounded up
  const std::uint64_t multiplier = (std::uint64_t{1} << (31 + log2)) / divisor + 1;
  return {static_cast<std::uint32_t>(multiplier), static_cast<std::uint32_t>(31 + log2)};
}

std::int64_t CopyPlan::size() const noexcept {
  std::int64_t units = axes.empty() ? 0 : 1;
  for (const CopyAxis& axis : axes) units *= axis.extent;
  return units;
}

std::int64_t CopyPlan::blocks(int threads, int units_per_thread) const noexcept {
  const auto pieces = [](std::int64_t extent, std::int64_t piece) {
    return (extent + piece - 1) / piece;
  };
  if (kind == Kind::strided || kind == Kind::block || kind == Kind::aligned_chunks)
    return pieces(size(), std::int64_t{threads} * units_per_thread);
  if (kind == Kind::small_arrays) {
    const std::size_t row = axes.size() - 1 - static_cast<std::size_t>(inner);
    std::int64_t count = pieces(axes[row].extent, chunk);
    for (std::size_t i = 0; i < row; ++i) count *= axes[i].extent;
    return count;
  }
  std::int64_t side_s = side_of_tile, side_t = side_of_tile;
  if (kind == Kind::packed) {
    const PackedSides sides = packed_sides(source_unit);
    side_s = sides.s, side_t = sides.t;
  } else if (kind == Kind::thin) {
    side_s = axes[axes.size() - 2].extent, side_t = chunk;
  }
  std::int64_t count =
      pieces(axes[axes.size() - 2].extent, side_s) * pieces(axes.back().extent, side_t);
  for (std::size_t i = 0; i + 2 < axes.size(); ++i) count *= axes[i].extent;
  return count;
}

CopyPlan plan_copy(const Array& source, const Array& target) {
  CopyPlan plan;
  plan.source_unit = source.dtype().itemsize();
  plan.target_unit = target.dtype().itemsize();
  if (target.size() == 0) return plan;
  take_axes(source.layout(), target.layout(), plan);
  sort_and_merge(plan.axes);
  if (plan.axes.empty()) plan.axes.push_back({1, 1, 1});
  const bool casts = source.dtype() != target.dtype();
  if (!casts) widen(plan, source, target);

  plan.wide = is_wide(plan);
  const CopyAxis& inner = plan.axes.back();
  const bool is_run = plan.axes.size() == 1 && inner.source_stride == 1 && inner.target_stride == 1;
  if (is_run && !casts) {
    plan.kind = CopyPlan::Kind::block;
    return plan;
  }
  if (!casts && make_small_arrays(plan, address(source, plan.source_offset),
                                  address(target, plan.target_offset)))
    return plan;
  if (!casts && make_aligned_chunks(plan, source, target)) return plan;
  plan.kind = CopyPlan::Kind::strided;
  if (CopyPlan reversed = plan; find_transposed_axes(reversed)) {
    const std::uintptr_t from = address(source, reversed.source_offset),
                         to = address(target, reversed.target_offset);
    if (!casts && make_thin(reversed, from, to)) return reversed;
    if (make_tiles(reversed, from, to, casts)) return reversed;
  }
  widen_units(plan, source, target);
  return plan;
}

CopyPlan plan_fill(const Array& target) {
  CopyPlan plan;
  plan.source_unit = plan.target_unit = target.dtype().itemsize();
  if (target.size() == 0) return plan;
  Layout nothing = target.layout();
  for (int i = 0; i < nothing.rank(); ++i) nothing.strides[i] = 0;
  take_axes(nothing, target.layout(), plan);
  plan.axes.truncate(std::remove_if(plan.axes.begin(), plan.axes.end(),
                                    [](const CopyAxis& axis) { return axis.target_stride == 0; }));
  sort_and_merge(plan.axes);
  if (plan.axes.empty()) plan.axes.push_back({1, 0, 1});
  plan.wide = is_wide(plan);
  const bool is_run = plan.axes.size() == 1 && plan.axes.back().target_stride == 1;
  plan.kind = is_run ? CopyPlan::Kind::block : CopyPlan::Kind::strided;
  if (is_run || plan.axes.back().target_stride != 1) return plan;
  use_units(plan, elements_per_unit(plan, 0, address(target, plan.target_offset), false), false);
  return plan;
}

}  // namespace spanwise::cuda
