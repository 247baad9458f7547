// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/copy/plan.hpp"

namespace spanwise::cpu_backend {
namespace {

void add_axis(CopyPlan& plan, Axis axis) {
  if (axis.extent == 1) return;
  if (axis.target_step < 0) {
    plan.target += (axis.extent - 1) * axis.target_step;
    if (plan.source != nullptr) plan.source += (axis.extent - 1) * axis.source_step;
    axis.target_step = -axis.target_step;
    axis.source_step = -axis.source_step;
  }
  plan.axes[static_cast<std::size_t>(plan.rank++)] = axis;
}

bool can_merge(const Axis& outer, const Axis& inner) {
  return outer.target_step == inner.target_step * inner.extent &&
         outer.source_step == inner.source_step * inner.extent;
}

void sort_and_merge(CopyPlan& plan) {
  if (plan.rank < 2) return;
  const auto begin = plan.axes.begin();
  const auto end = begin + plan.rank;
  // Insertion sort: axes are few, and mostly in order.
  for (auto axis = begin + 1; axis != end; ++axis) {
    const Axis moved = *axis;
    auto position = axis;
    for (; position != begin && (position - 1)->target_step < moved.target_step; --position)
      *position = *(position - 1);
    *position = moved;
  }
  auto last = begin;
  for (auto axis = begin + 1; axis != end; ++axis) {
    if (can_merge(*last, *axis)) {
      axis->extent *= last->extent;
      *last = *axis;
    } else {
      *++last = *axis;
    }
  }
  plan.rank = static_cast<int>(last - begin) + 1;
}

}  // namespace

CopyPlan CopyPlan::make(const Array& source, const Array& target) {
  CopyPlan plan;
  plan.target = static_cast<std::byte*>(target.data());
  plan.source = static_cast<const std::byte*>(source.data());
  const std::int64_t to = target.dtype().itemsize(), from = source.dtype().itemsize();
  for (int i = 0; i < target.rank(); ++i)
    add_axis(plan, {target.shape()[i], target.strides()[i] * to, source.strides()[i] * from});
  sort_and_merge(plan);
  return plan;
}

CopyPlan CopyPlan::make(const Array& target) {
  CopyPlan plan;
  plan.target = static_cast<std::byte*>(target.data());
  for (int i = 0; i < target.rank(); ++i)
    add_axis(plan, {target.shape()[i], target.strides()[i] * target.dtype().itemsize(), 0});
  sort_and_merge(plan);
  return plan;
}

std::int64_t CopyPlan::size() const noexcept {
  std::int64_t size = 1;
  for (int i = 0; i < rank; ++i) size *= axes[static_cast<std::size_t>(i)].extent;
  return size;
}

}  // namespace spanwise::cpu_backend
