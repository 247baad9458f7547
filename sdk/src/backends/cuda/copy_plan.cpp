// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/copy_plan.hpp"

#include <algorithm>
#include <bit>
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

constexpr int side_of_tile = 32;

std::uint64_t bits(std::int64_t value) { return static_cast<std::uint64_t>(value); }

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

// Where source and target run along different axes, puts those two last, the source's first.
bool find_crossing(CopyPlan& plan) {
  std::vector<CopyAxis>& axes = plan.axes;
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
  constexpr std::int64_t most = 32;
  if (plan.source_unit != plan.target_unit || plan.source_unit > 8) return false;
  std::vector<CopyAxis>& axes = plan.axes;
  CopyAxis &s = axes[axes.size() - 2], &t = axes.back();
  // s runs in the source. It is short: the source is dense. Or t is: the target is.
  const bool dense_source = s.extent <= most && t.extent > s.extent && t.source_stride == s.extent;
  const bool dense_target =
      !dense_source && t.extent <= most && s.extent > t.extent && s.target_stride == t.extent;
  if (!dense_source && !dense_target) return false;
  if (dense_target) std::swap(s, t);  // now s is the short one, along which the target runs
  const int unit = plan.source_unit;
  plan.kind = CopyPlan::Kind::thin;
  plan.dense_source = dense_source;
  plan.chunk = static_cast<std::int64_t>(std::bit_floor(bits(thin_bytes / (s.extent * unit))));
  // Of the dense side the pair is one line; its chunks begin on 16 bytes as they are so long.
  std::uint64_t all = source | target;
  for (std::size_t i = 0; i + 2 < axes.size(); ++i)
    all |= bits(axes[i].source_stride * unit) | bits(axes[i].target_stride * unit);
  all |= bits((dense_source ? s.target_stride : s.source_stride) * unit);
  plan.source_vectors = plan.target_vectors = all % 16 == 0;
  return true;
}

bool make_tiles(CopyPlan& plan, std::uintptr_t source, std::uintptr_t target) {
  const CopyAxis &s = plan.axes[plan.axes.size() - 2], &t = plan.axes.back();
  if (s.extent < least_tile || t.extent < least_tile) return false;
  plan.kind = CopyPlan::Kind::tiled;
  if (plan.source_unit != plan.target_unit || plan.source_unit > 4) return true;
  const PackedSides sides = packed_sides(plan.source_unit);
  if (s.extent * 2 < sides.s || t.extent * 2 < sides.t) return true;
  plan.kind = CopyPlan::Kind::packed;
  plan.source_vectors = starts_vectors(plan, source, plan.source_unit, plan.axes.size() - 2, true);
  plan.target_vectors = starts_vectors(plan, target, plan.target_unit, plan.axes.size() - 1, false);
  return true;
}

// As many elements of the last axis as go into 16 bytes of the wider side, for which the target has
// to be aligned, and the source too where it is read at once.
int elements_at_once(const CopyPlan& plan, std::uintptr_t source, std::uintptr_t target,
                     bool whole_source) {
  const int wider = std::max(plan.source_unit, plan.target_unit);
  std::uint64_t from = source, to = target;
  for (std::size_t i = 0; i + 1 < plan.axes.size(); ++i) {
    from |= bits(plan.axes[i].source_stride * plan.source_unit);
    to |= bits(plan.axes[i].target_stride * plan.target_unit);
  }
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

// Units of `count` elements; strides of a side that is accessed by whole units count those.
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

// The bytes of words of the other byte order: short groups turned around, which follow one another
// on both sides.
bool make_turned_groups(CopyPlan& plan, std::uintptr_t source, std::uintptr_t target) {
  std::vector<CopyAxis>& axes = plan.axes;
  const CopyAxis inner = axes.back();
  if (inner.source_stride != -1 || inner.extent * plan.source_unit > 16) return false;
  if (!std::has_single_bit(bits(inner.extent))) return false;
  const std::int64_t first = (inner.extent - 1) * plan.source_unit;
  const std::vector<CopyAxis> before = axes;
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
  plan.lie = CopyPlan::Lie::turned;
  plan.group = static_cast<int>(inner.extent);
  gather_elements(plan, count, true);
  return true;
}

// Several elements of the target's run at once.
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
      plan.lie = CopyPlan::Lie::turned;
      plan.group = count;
      return gather_elements(plan, count, true);
    }
  }
  plan.lie = CopyPlan::Lie::apart;
  plan.step = inner.source_stride;
  gather_elements(plan, elements_at_once(plan, from, to, false), false);
}

}  // namespace

PackedSides packed_sides(int unit) noexcept {
  const int by_s = unit == 1 ? 1 : 2, by_t = unit == 4 ? 2 : 1;
  return {by_s, by_t, std::int64_t{128 / unit} * by_s, std::int64_t{128 / unit} * by_t};
}

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
  if (kind == Kind::strided || kind == Kind::block)
    return pieces(size(), std::int64_t{threads} * units_per_thread);
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
  plan.kind = CopyPlan::Kind::strided;
  if (CopyPlan turned = plan; find_crossing(turned)) {
    const std::uintptr_t from = address(source, turned.source_offset),
                         to = address(target, turned.target_offset);
    if (!casts && make_thin(turned, from, to)) return turned;
    if (make_tiles(turned, from, to)) return turned;
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
  std::erase_if(plan.axes, [](const CopyAxis& axis) { return axis.target_stride == 0; });
  sort_and_merge(plan.axes);
  if (plan.axes.empty()) plan.axes.push_back({1, 0, 1});
  plan.wide = is_wide(plan);
  const bool is_run = plan.axes.size() == 1 && plan.axes.back().target_stride == 1;
  plan.kind = is_run ? CopyPlan::Kind::block : CopyPlan::Kind::strided;
  if (is_run || plan.axes.back().target_stride != 1) return plan;
  gather_elements(plan, elements_at_once(plan, 0, address(target, plan.target_offset), false),
                  false);
  return plan;
}

}  // namespace spanwise::cuda
