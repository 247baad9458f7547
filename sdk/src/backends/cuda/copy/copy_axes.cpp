// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

#include "backends/cuda/copy/copy_plan_steps.hpp"

namespace spanwise::cuda {
namespace {

bool is_outer(const CopyAxis& a, const CopyAxis& b) {
  if (a.target_stride != b.target_stride) return a.target_stride > b.target_stride;
  return std::abs(a.source_stride) > std::abs(b.source_stride);
}

// Merges adjacent axes where both strides allow it.
void merge(CopyAxes& axes) {
  if (axes.empty()) return;
  CopyAxis* outer = axes.begin();
  for (const CopyAxis* axis = outer + 1; axis != axes.end(); ++axis) {
    if (outer->source_stride == axis->extent * axis->source_stride &&
        outer->target_stride == axis->extent * axis->target_stride)
      *outer = {outer->extent * axis->extent, axis->source_stride, axis->target_stride};
    else
      *++outer = *axis;
  }
  axes.truncate(outer + 1);
}

// The widest word to which both sides are aligned. `axes` count bytes; the last is contiguous.
int widest_word(const CopyAxes& axes, std::uintptr_t source, std::uintptr_t target) {
  std::uint64_t all = source | target | static_cast<std::uint64_t>(axes.back().extent);
  for (std::size_t i = 0; i + 1 < axes.size(); ++i) {
    all |= static_cast<std::uint64_t>(axes[i].source_stride);
    all |= static_cast<std::uint64_t>(axes[i].target_stride);
  }
  int word = 16;
  while (all % static_cast<unsigned>(word) != 0) word /= 2;
  return word;
}

}  // namespace

void take_axes(const Layout& source, const Layout& target, CopyPlan& plan) {
  for (int i = 0; i < target.rank(); ++i) {
    CopyAxis axis{target.shape[i], source.strides[i], target.strides[i]};
    if (axis.extent == 1) continue;
    if (axis.target_stride < 0 || (axis.target_stride == 0 && axis.source_stride < 0)) {
      plan.source_offset += (axis.extent - 1) * axis.source_stride * plan.source_unit;
      plan.target_offset += (axis.extent - 1) * axis.target_stride * plan.target_unit;
      axis.source_stride = -axis.source_stride;
      axis.target_stride = -axis.target_stride;
    }
    plan.axes.push_back(axis);
  }
}

void sort_and_merge(CopyAxes& axes) {
  // Insertion sort: axes are few and nearly in order, and std::stable_sort allocates memory.
  for (CopyAxis* axis = axes.begin(); axis != axes.end(); ++axis)
    std::rotate(std::upper_bound(axes.begin(), axis, *axis, is_outer), axis, axis + 1);
  merge(axes);
}

void widen(CopyPlan& plan, const Array& source, const Array& target) {
  const int itemsize = plan.source_unit;
  for (CopyAxis& axis : plan.axes) {
    axis.source_stride *= itemsize;
    axis.target_stride *= itemsize;
  }
  // Adds an axis for the bytes of an item, which may be merged with the last one.
  plan.axes.push_back({itemsize, 1, 1});
  merge(plan.axes);

  const int word = widest_word(plan.axes, address(source, plan.source_offset),
                               address(target, plan.target_offset));
  CopyAxis& innermost = plan.axes.back();
  innermost.extent /= word;
  for (std::size_t i = 0; i + 1 < plan.axes.size(); ++i) {
    plan.axes[i].source_stride /= word;
    plan.axes[i].target_stride /= word;
  }
  if (innermost.extent == 1 && plan.axes.size() > 1) plan.axes.pop_back();
  plan.source_unit = plan.target_unit = word;
}

bool is_wide(const CopyPlan& plan) {
  // With a margin for surplus threads of the last block, whose index is computed before it is
  // checked.
  constexpr std::int64_t limit = std::numeric_limits<std::int32_t>::max() - 4096;
  std::int64_t source = 0, target = 0;
  for (const CopyAxis& axis : plan.axes) {
    source += (axis.extent - 1) * std::abs(axis.source_stride);
    target += (axis.extent - 1) * std::abs(axis.target_stride);
  }
  return source > limit || target > limit || plan.size() > limit;
}

}  // namespace spanwise::cuda
