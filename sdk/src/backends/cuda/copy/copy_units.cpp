// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>

#include "backends/cuda/copy/copy_plan_steps.hpp"

namespace spanwise::cuda {

int elements_per_unit(const CopyPlan& plan, std::uintptr_t source, std::uintptr_t target,
                      bool source_in_units) {
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
        (!source_in_units || fits(from, plan.source_unit))) {
      break;
    }
  }
  return count;
}

void use_units(CopyPlan& plan, int count, bool source_in_units) {
  plan.elements = count;
  for (std::size_t i = 0; i < plan.axes.size(); ++i) {
    CopyAxis& axis = plan.axes[i];
    const bool last = i + 1 == plan.axes.size();
    if (last) {
      axis.extent /= count;
      if (!source_in_units) axis.source_stride *= count;
    } else {
      axis.target_stride /= count;
      if (source_in_units) axis.source_stride /= count;
    }
  }
  if (plan.axes.back().extent == 1 && plan.axes.size() > 1) plan.axes.pop_back();
}

namespace {

// Conversion of byte order: short reversed groups, contiguous on both sides.
bool make_reversed_groups(CopyPlan& plan, std::uintptr_t source, std::uintptr_t target) {
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
      elements_per_unit(plan, source - static_cast<std::uintptr_t>(first), target, true);
  if (count < inner.extent) {
    axes = before;
    return false;
  }
  plan.source_offset -= first;
  plan.pattern = CopyPlan::AccessPattern::reversed;
  plan.group = static_cast<int>(inner.extent);
  use_units(plan, count, true);
  return true;
}

}  // namespace

void widen_units(CopyPlan& plan, const Array& source, const Array& target) {
  const std::uintptr_t from = address(source, plan.source_offset),
                       to = address(target, plan.target_offset);
  if (plan.axes.back().target_stride != 1) return;
  const bool casts = source.dtype() != target.dtype();
  if (!casts && make_reversed_groups(plan, from, to)) return;
  const CopyAxis& inner = plan.axes.back();
  if (inner.source_stride == 1)
    return use_units(plan, elements_per_unit(plan, from, to, true), true);
  if (inner.source_stride == -1) {
    // A unit's first element has the highest address.
    const int wider = std::max(plan.source_unit, plan.target_unit);
    for (int count = 16 / wider; count > 1; count /= 2) {
      const std::int64_t back = (count - 1) * plan.source_unit;
      if (elements_per_unit(plan, from - static_cast<std::uintptr_t>(back), to, true) != count)
        continue;
      plan.source_offset -= back;
      plan.pattern = CopyPlan::AccessPattern::reversed;
      plan.group = count;
      return use_units(plan, count, true);
    }
  }
  plan.pattern = CopyPlan::AccessPattern::strided;
  plan.step = inner.source_stride;
  use_units(plan, elements_per_unit(plan, from, to, false), false);
}

bool make_aligned_chunks(CopyPlan& plan, const Array& source, const Array& target) {
  constexpr std::int64_t min_bytes = 64;
  const int unit = plan.source_unit;
  CopyAxis& innermost = plan.axes.back();
  if (unit != plan.target_unit || unit > 2 || innermost.source_stride != 1 ||
      innermost.target_stride != 1)
    return false;
  if (innermost.extent * unit < min_bytes) return false;
  const std::uintptr_t from = address(source, plan.source_offset),
                       to = address(target, plan.target_offset);
  if (elements_per_unit(plan, from, to, true) * unit >= 4) return false;
  plan.kind = CopyPlan::Kind::aligned_chunks;
  plan.length = innermost.extent;
  plan.source_end = unit;
  for (const CopyAxis& axis : plan.axes) {
    const std::int64_t reach = (axis.extent - 1) * axis.source_stride * unit;
    (reach < 0 ? plan.source_begin : plan.source_end) += reach;
  }
  // A run of n bytes touches up to n / 16, rounded up, plus 1 chunks.
  innermost = {(innermost.extent * unit + 14) / 16 + 1, 0, 0};
  return true;
}

}  // namespace spanwise::cuda
