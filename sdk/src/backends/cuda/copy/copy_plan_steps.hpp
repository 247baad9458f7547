// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backends/cuda/copy/copy_plan.hpp"

/// The steps by which plan_copy() and plan_fill() find a plan.
namespace spanwise::cuda {

inline std::uint64_t bits(std::int64_t value) { return static_cast<std::uint64_t>(value); }

/// The plan's first unit in memory, `offset` bytes from the array's element (0, ..., 0).
inline std::uintptr_t address(const Array& array, std::int64_t offset) {
  return reinterpret_cast<std::uintptr_t>(array.data()) + static_cast<std::uintptr_t>(offset);
}

/// The steps of the first `count` axes on one side, in bytes, or-ed: what divides them all divides
/// it.
inline std::uint64_t joined_steps(const CopyPlan& plan, std::size_t count, bool source) {
  std::uint64_t all = 0;
  for (std::size_t i = 0; i < count; ++i)
    all |= source ? bits(plan.axes[i].source_stride * plan.source_unit)
                  : bits(plan.axes[i].target_stride * plan.target_unit);
  return all;
}

// ---- copy_axes.cpp

/// Axes of extent > 1, all running forwards in the target.
void take_axes(const Layout& source, const Layout& target, CopyPlan& plan);
/// Outermost first, as the target has them; neighbours that continue one another on both sides
/// become one axis.
void sort_and_merge(CopyAxes& axes);
/// Cuts the copy of equal dtypes into words, as wide as both sides allow, instead of elements.
void widen(CopyPlan& plan, const Array& source, const Array& target);
bool is_wide(const CopyPlan& plan);

// ---- copy_tiles.cpp

/// Where source and target run along different axes, puts those two last, the source's first.
bool find_crossing(CopyPlan& plan);
/// Makes of a plan with a crossing what its axes are long enough for; false where they are not.
/// `source` and `target` are the addresses of the first units.
bool make_thin(CopyPlan& plan, std::uintptr_t source, std::uintptr_t target);
bool make_tiles(CopyPlan& plan, std::uintptr_t source, std::uintptr_t target, bool casts);

// ---- copy_cells.cpp

/// Short axes that both sides hold densely, in another order, again and again.
bool make_cells(CopyPlan& plan, std::uintptr_t source, std::uintptr_t target);

// ---- copy_units.cpp

/// Units of as many elements of the target's run as 16 bytes hold, where the target allows it;
/// `whole_source`: where the source allows it too.
int elements_at_once(const CopyPlan& plan, std::uintptr_t source, std::uintptr_t target,
                     bool whole_source);
/// Strides of a side that is accessed by whole units count those.
void gather_elements(CopyPlan& plan, int count, bool whole_source);
/// The widest units for a strided plan, however they lie in the source.
void widen_units(CopyPlan& plan, const Array& source, const Array& target);
/// Runs of bytes that are not aligned alike on both sides.
bool make_granules(CopyPlan& plan, const Array& source, const Array& target);

}  // namespace spanwise::cuda
