// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cstdlib>
#include <utility>

#include "backends/cuda/copy/copy_plan_steps.hpp"

namespace spanwise::cuda {
namespace {

// The shortest side of a tile that is worth a pass through shared memory.
constexpr std::int64_t least_tile = 16;

// Whether lines of `plan` begin on 16 bytes on that side, whatever the other axes' indices; `along`
// is the axis of the line.
bool starts_vectors(const CopyPlan& plan, std::uintptr_t start, int unit, std::size_t along,
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

// Turns an axis so that the source runs forwards along it; the target may then run backwards.
void turn_forwards(CopyPlan& plan, std::size_t place) {
  CopyAxis& axis = plan.axes[place];
  if (axis.source_stride >= 0) return;
  plan.source_offset += (axis.extent - 1) * axis.source_stride * plan.source_unit;
  plan.target_offset += (axis.extent - 1) * axis.target_stride * plan.target_unit;
  axis.source_stride = -axis.source_stride;
  axis.target_stride = -axis.target_stride;
}

}  // namespace

bool find_crossing(CopyPlan& plan) {
  CopyAxes& axes = plan.axes;
  if (axes.size() < 2 || axes.back().target_stride != 1) return false;
  if (std::abs(axes.back().source_stride) <= 1) return false;
  const auto found = std::find_if(axes.begin(), axes.end() - 1,
                                  [](const CopyAxis& axis) { return runs(axis, true); });
  if (found == axes.end() - 1) return false;
  std::rotate(found, found + 1, axes.end() - 1);
  turn_forwards(plan, axes.size() - 2);
  return true;
}

// Channels of pixels: a short axis s (last but one) and a long one t, dense together on one side.
bool make_thin(CopyPlan& plan, std::uintptr_t source, std::uintptr_t target) {
  constexpr std::int64_t most = 32, least_long = 64;
  if (plan.source_unit != plan.target_unit || plan.source_unit > 8) return false;
  CopyAxes& axes = plan.axes;
  CopyAxis &s = axes[axes.size() - 2], &t = axes.back();
  // s runs in the source. It is short: the source is dense. Or t is: the target is.
  const bool dense_source = s.extent <= most && t.extent > s.extent && t.source_stride == s.extent;
  const bool dense_target =
      !dense_source && t.extent <= most && s.extent > t.extent && s.target_stride == t.extent;
  if ((!dense_source && !dense_target) || std::max(s.extent, t.extent) < least_long) return false;
  if (dense_target) std::swap(s, t);  // now s is the short one, along which the target runs
  const int unit = plan.source_unit;
  plan.kind = CopyPlan::Kind::thin;
  plan.dense_source = dense_source;
  plan.chunk = static_cast<std::int64_t>(std::bit_floor(bits(thin_bytes / (s.extent * unit))));
  // Of the dense side the pair is one line; its chunks begin on 16 bytes as they are so long.
  const std::size_t outer = axes.size() - 2;
  std::uint64_t all =
      source | target | joined_steps(plan, outer, true) | joined_steps(plan, outer, false);
  all |= bits((dense_source ? s.target_stride : s.source_stride) * unit);
  plan.source_vectors = plan.target_vectors = all % 16 == 0;
  return true;
}

bool make_tiles(CopyPlan& plan, std::uintptr_t source, std::uintptr_t target, bool casts) {
  const CopyAxis &s = plan.axes[plan.axes.size() - 2], &t = plan.axes.back();
  if (s.extent < least_tile || t.extent < least_tile) return false;
  plan.kind = CopyPlan::Kind::tiled;
  if (casts || plan.source_unit > 4) return true;
  const PackedSides sides = packed_sides(plan.source_unit);
  if (s.extent * 2 < sides.s || t.extent * 2 < sides.t) return true;
  plan.kind = CopyPlan::Kind::packed;
  plan.source_vectors = starts_vectors(plan, source, plan.source_unit, plan.axes.size() - 2, true);
  plan.target_vectors = starts_vectors(plan, target, plan.target_unit, plan.axes.size() - 1, false);
  return true;
}

PackedSides packed_sides(int unit) noexcept {
  const int by_s = unit == 1 ? 1 : 2, by_t = unit == 4 ? 2 : 1;
  return {by_s, by_t, std::int64_t{128 / unit} * by_s, std::int64_t{128 / unit} * by_t};
}

}  // namespace spanwise::cuda
