// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cstdlib>
#include <utility>

#include "backends/cuda/copy/copy_plan_steps.hpp"

namespace spanwise::cuda {
namespace {

// The minimal side of a tile for a pass through shared memory.
constexpr std::int64_t min_tile = 16;

// Whether all lines along the axis `along` begin at multiples of 16 bytes on this side.
bool has_aligned_lines(const CopyPlan& plan, std::uintptr_t start, int unit, std::size_t along,
                       bool source) {
  std::uint64_t all = start;
  for (std::size_t i = 0; i < plan.axes.size(); ++i) {
    const std::int64_t stride = source ? plan.axes[i].source_stride : plan.axes[i].target_stride;
    if (i != along) all |= bits(stride * unit);
  }
  return all % 16 == 0;
}

bool runs(const CopyAxis& axis, bool source) {
  return std::abs(source ? axis.source_stride : axis.target_stride) == 1;
}

// Reverses an axis whose source stride is negative; the target stride may then be negative.
void make_source_forward(CopyPlan& plan, std::size_t index) {
  CopyAxis& axis = plan.axes[index];
  if (axis.source_stride >= 0) return;
  plan.source_offset += (axis.extent - 1) * axis.source_stride * plan.source_unit;
  plan.target_offset += (axis.extent - 1) * axis.target_stride * plan.target_unit;
  axis.source_stride = -axis.source_stride;
  axis.target_stride = -axis.target_stride;
}

}  // namespace

bool find_transposed_axes(CopyPlan& plan) {
  CopyAxes& axes = plan.axes;
  if (axes.size() < 2 || axes.back().target_stride != 1) return false;
  if (std::abs(axes.back().source_stride) <= 1) return false;
  const auto found = std::find_if(axes.begin(), axes.end() - 1,
                                  [](const CopyAxis& axis) { return runs(axis, true); });
  if (found == axes.end() - 1) return false;
  std::rotate(found, found + 1, axes.end() - 1);
  make_source_forward(plan, axes.size() - 2);
  return true;
}

// Such as channels of pixels: a short axis s (last but one) and a long one t, dense on one side.
bool make_thin(CopyPlan& plan, std::uintptr_t source, std::uintptr_t target) {
  constexpr std::int64_t max_short = 32, min_long = 64;
  if (plan.source_unit != plan.target_unit || plan.source_unit > 8) return false;
  CopyAxes& axes = plan.axes;
  CopyAxis &s = axes[axes.size() - 2], &t = axes.back();
  // The source is contiguous along s. If s is short the source is dense, if t is short the target.
  const bool dense_source =
      s.extent <= max_short && t.extent > s.extent && t.source_stride == s.extent;
  const bool dense_target =
      !dense_source && t.extent <= max_short && s.extent > t.extent && s.target_stride == t.extent;
  if ((!dense_source && !dense_target) || std::max(s.extent, t.extent) < min_long) return false;
  if (dense_target) std::swap(s, t);  // now s is the short axis
  const int unit = plan.source_unit;
  plan.kind = CopyPlan::Kind::thin;
  plan.dense_source = dense_source;
  plan.chunk = static_cast<std::int64_t>(std::bit_floor(bits(thin_bytes / (s.extent * unit))));
  // On the dense side both axes are one line, whose chunks have multiples of 16 bytes.
  const std::size_t outer = axes.size() - 2;
  std::uint64_t all =
      source | target | joined_steps(plan, outer, true) | joined_steps(plan, outer, false);
  all |= bits((dense_source ? s.target_stride : s.source_stride) * unit);
  plan.source_vectors = plan.target_vectors = all % 16 == 0;
  return true;
}

bool make_tiles(CopyPlan& plan, std::uintptr_t source, std::uintptr_t target, bool casts) {
  const CopyAxis &s = plan.axes[plan.axes.size() - 2], &t = plan.axes.back();
  if (s.extent < min_tile || t.extent < min_tile) return false;
  plan.kind = CopyPlan::Kind::tiled;
  if (casts || plan.source_unit > 4) return true;
  const PackedSides sides = packed_sides(plan.source_unit);
  if (s.extent * 2 < sides.s || t.extent * 2 < sides.t) return true;
  plan.kind = CopyPlan::Kind::packed;
  plan.source_vectors =
      has_aligned_lines(plan, source, plan.source_unit, plan.axes.size() - 2, true);
  plan.target_vectors =
      has_aligned_lines(plan, target, plan.target_unit, plan.axes.size() - 1, false);
  return true;
}

PackedSides packed_sides(int unit) noexcept {
  const int by_s = unit == 1 ? 1 : 2, by_t = unit == 4 ? 2 : 1;
  return {by_s, by_t, std::int64_t{128 / unit} * by_s, std::int64_t{128 / unit} * by_t};
}

}  // namespace spanwise::cuda
