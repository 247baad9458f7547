// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>

#include "backends/cuda/copy/copy_plan_steps.hpp"

namespace spanwise::cuda {

int elements_at_once(const CopyPlan& plan, std::uintptr_t source, std::uintptr_t target,
                     bool whole_source) {
  const int wider = std::max(plan.source_unit, plan.target_unit);
  const std::size_t outer = plan.axes.size() - 1;
  const std::uint64_t from = source | joined_steps(plan, outer, true),
                      to = target | joined_steps(plan, outer, false);
  int count = 16 / wider;
  for (; count > 1; count /= 2) {
    const auto fits = [&](std::uint64_t all, int unit) {
      return all % static_cast<unsigned>(count * unit) == 0;
    };
    if (plan.axes.back().extent % count == 0 && fits(to, plan.target_unit) &&
        (!whole_source || fits(from, plan.source_unit))) {
      break;
    }
  }
  return count;
}

void gather_elements(CopyPlan& plan, int count, bool whole_source) {
  plan.elements = count;
  for (std::size_t i = 0; i < plan.axes.size(); ++i) {
    CopyAxis& axis = plan.axes[i];
    const bool last = i + 1 == plan.axes.size();
    if (last) {
      axis.extent /= count;
      if (!whole_source) axis.source_stride *= count;
    } else {
      axis.target_stride /= count;
      if (whole_source) axis.source_stride /= count;
    }
  }
  if (plan.axes.back().extent == 1 && plan.axes.size() > 1) plan.axes.pop_back();
}

namespace {

// The bytes of words of the other byte order: short groups turned around, which follow one another
// on both sides.
bool make_turned_groups(CopyPlan& plan, std::uintptr_t source, std::uintptr_t target) {
  CopyAxes& axes = plan.axes;
  const CopyAxis inner = axes.back();
  if (inner.source_stride != -1 || inner.extent * plan.source_unit > 16) return false;
  if (!std::has_single_bit(bits(inner.extent))) return false;
  const std::int64_t first = (inner.extent - 1) * plan.source_unit;
  const CopyAxes before = axes;
  if (axes.size() > 1 && axes[axes.size() - 2].source_stride == inner.extent &&
      axes[axes.size() - 2].target_stride == inner.extent) {
    axes.pop_back();
    axes.back() = {axes.back().extent * inner.extent, 1, 1};
  } else {
    axes.back().source_stride = 1;
  }
  const int count =
      elements_at_once(plan, source - static_cast<std::uintptr_t>(first), target, true);
  if (count < inner.extent) {
    axes = before;
    return false;
  }
  plan.source_offset -= first;
  plan.pattern = CopyPlan::AccessPattern::turned;
  plan.group = static_cast<int>(inner.extent);
  gather_elements(plan, count, true);
  return true;
}

}  // namespace

void widen_units(CopyPlan& plan, const Array& source, const Array& target) {
  const std::uintptr_t from = address(source, plan.source_offset),
                       to = address(target, plan.target_offset);
  if (plan.axes.back().target_stride != 1) return;
  const bool casts = source.dtype() != target.dtype();
  if (!casts && make_turned_groups(plan, from, to)) return;
  const CopyAxis& inner = plan.axes.back();
  if (inner.source_stride == 1)
    return gather_elements(plan, elements_at_once(plan, from, to, true), true);
  if (inner.source_stride == -1) {
    // The unit's first element is the last one in memory.
    const int wider = std::max(plan.source_unit, plan.target_unit);
    for (int count = 16 / wider; count > 1; count /= 2) {
      const std::int64_t back = (count - 1) * plan.source_unit;
      if (elements_at_once(plan, from - static_cast<std::uintptr_t>(back), to, true) != count)
        continue;
      plan.source_offset -= back;
      plan.pattern = CopyPlan::AccessPattern::turned;
      plan.group = count;
      return gather_elements(plan, count, true);
    }
  }
  plan.pattern = CopyPlan::AccessPattern::apart;
  plan.step = inner.source_stride;
  gather_elements(plan, elements_at_once(plan, from, to, false), false);
}

bool make_granules(CopyPlan& plan, const Array& source, const Array& target) {
  constexpr std::int64_t least_bytes = 64;
  const int unit = plan.source_unit;
  CopyAxis& run = plan.axes.back();
  if (unit != plan.target_unit || unit > 2 || run.source_stride != 1 || run.target_stride != 1)
    return false;
  if (run.extent * unit < least_bytes) return false;
  const std::uintptr_t from = address(source, plan.source_offset),
                       to = address(target, plan.target_offset);
  if (elements_at_once(plan, from, to, true) * unit >= 4) return false;
  plan.kind = CopyPlan::Kind::aligned_chunks;
  plan.length = run.extent;
  plan.hull_end = unit;
  for (const CopyAxis& axis : plan.axes) {
    const std::int64_t reach = (axis.extent - 1) * axis.source_stride * unit;
    (reach < 0 ? plan.hull_begin : plan.hull_end) += reach;
  }
  // A run of n bytes touches one piece more than n / 16, rounded up, where it begins late in one.
  run = {(run.extent * unit + 14) / 16 + 1, 0, 0};
  return true;
}

}  // namespace spanwise::cuda
