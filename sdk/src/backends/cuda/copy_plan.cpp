// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/copy_plan.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

namespace spanwise::cuda {
namespace {

// The shortest side of a tile that is worth a pass through shared memory.
constexpr std::int64_t least_tile = 16;

// Axes of extent > 1, all running forwards in the target.
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

bool is_outer(const CopyAxis& a, const CopyAxis& b) {
  if (a.target_stride != b.target_stride) return a.target_stride > b.target_stride;
  return std::abs(a.source_stride) > std::abs(b.source_stride);
}

// Neighbours that continue one another on both sides become one axis.
void merge(std::vector<CopyAxis>& axes) {
  std::vector<CopyAxis> merged;
  for (const CopyAxis& axis : axes) {
    CopyAxis* outer = merged.empty() ? nullptr : &merged.back();
    if (outer != nullptr && outer->source_stride == axis.extent * axis.source_stride &&
        outer->target_stride == axis.extent * axis.target_stride) {
      *outer = {outer->extent * axis.extent, axis.source_stride, axis.target_stride};
    } else {
      merged.push_back(axis);
    }
  }
  axes = std::move(merged);
}

// Outermost first, as the target has them.
void sort_and_merge(std::vector<CopyAxis>& axes) {
  std::stable_sort(axes.begin(), axes.end(), is_outer);
  merge(axes);
}

std::uintptr_t address(const Array& array, std::int64_t offset) {
  return reinterpret_cast<std::uintptr_t>(array.data()) + static_cast<std::uintptr_t>(offset);
}

// The widest word that both sides can be cut into. `axes` count bytes; the last is a run.
int widest_word(const std::vector<CopyAxis>& axes, std::uintptr_t source, std::uintptr_t target) {
  std::uint64_t all = source | target | static_cast<std::uint64_t>(axes.back().extent);
  for (std::size_t i = 0; i + 1 < axes.size(); ++i) {
    all |= static_cast<std::uint64_t>(axes[i].source_stride);
    all |= static_cast<std::uint64_t>(axes[i].target_stride);
  }
  int word = 16;
  while (all % static_cast<unsigned>(word) != 0) word /= 2;
  return word;
}

// Cuts the copy of equal dtypes into words instead of elements.
void widen(CopyPlan& plan, const Array& source, const Array& target) {
  const int itemsize = plan.source_unit;
  for (CopyAxis& axis : plan.axes) {
    axis.source_stride *= itemsize;
    axis.target_stride *= itemsize;
  }
  // The bytes of an item are one more axis, and perhaps continue in the next item.
  plan.axes.push_back({itemsize, 1, 1});
  merge(plan.axes);

  const int word = widest_word(plan.axes, address(source, plan.source_offset),
                               address(target, plan.target_offset));
  CopyAxis& run = plan.axes.back();
  run.extent /= word;
  for (std::size_t i = 0; i + 1 < plan.axes.size(); ++i) {
    plan.axes[i].source_stride /= word;
    plan.axes[i].target_stride /= word;
  }
  if (run.extent == 1 && plan.axes.size() > 1) plan.axes.pop_back();
  plan.source_unit = plan.target_unit = word;
}

bool is_wide(const CopyPlan& plan) {
  // A margin for the threads of the last block, whose index is computed before it is compared.
  constexpr std::int64_t limit = std::numeric_limits<std::int32_t>::max() - 4096;
  std::int64_t source = 0, target = 0;
  for (const CopyAxis& axis : plan.axes) {
    source += (axis.extent - 1) * std::abs(axis.source_stride);
    target += (axis.extent - 1) * std::abs(axis.target_stride);
  }
  return source > limit || target > limit || plan.size() > limit;
}

// Where source and target run along different axes, puts those two last, the source's first.
bool make_tiles(std::vector<CopyAxis>& axes) {
  if (axes.size() < 2 || axes.back().target_stride != 1) return false;
  if (std::abs(axes.back().source_stride) <= 1 || axes.back().extent < least_tile) return false;
  const auto runs = [](const CopyAxis& axis) {
    return std::abs(axis.source_stride) == 1 && axis.extent >= least_tile;
  };
  const auto found = std::find_if(axes.begin(), axes.end() - 1, runs);
  if (found == axes.end() - 1) return false;
  std::rotate(found, found + 1, axes.end() - 1);
  return true;
}

}  // namespace

std::int64_t CopyPlan::size() const noexcept {
  std::int64_t units = axes.empty() ? 0 : 1;
  for (const CopyAxis& axis : axes) units *= axis.extent;
  return units;
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
  plan.kind = CopyPlan::Kind::strided;
  if (is_run && !casts) {
    plan.kind = CopyPlan::Kind::block;
  } else if (make_tiles(plan.axes)) {
    plan.kind = CopyPlan::Kind::tiled;
  }
  return plan;
}

CopyPlan plan_fill(const Array& target) {
  CopyPlan plan;
  plan.source_unit = plan.target_unit = target.dtype().itemsize();
  if (target.size() == 0) return plan;
  Layout nothing = target.layout();
  for (int i = 0; i < nothing.rank(); ++i) nothing.strides[i] = 0;
  take_axes(nothing, target.layout(), plan);
  std::erase_if(plan.axes, [](const CopyAxis& axis) { return axis.target_stride == 0; });
  sort_and_merge(plan.axes);
  if (plan.axes.empty()) plan.axes.push_back({1, 0, 1});
  plan.wide = is_wide(plan);
  const bool is_run = plan.axes.size() == 1 && plan.axes.back().target_stride == 1;
  plan.kind = is_run ? CopyPlan::Kind::block : CopyPlan::Kind::strided;
  return plan;
}

}  // namespace spanwise::cuda
