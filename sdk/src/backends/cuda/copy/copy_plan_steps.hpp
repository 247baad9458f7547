// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backends/cuda/copy/copy_plan.hpp"

/// The steps of plan_copy() and plan_fill().
namespace spanwise::cuda {

inline std::uint64_t bits(std::int64_t value) { return static_cast<std::uint64_t>(value); }

/// The address `offset` bytes from the array's element (0, ..., 0).
inline std::uintptr_t address(const Array& array, std::int64_t offset) {
  return reinterpret_cast<std::uintptr_t>(array.data()) + static_cast<std::uintptr_t>(offset);
}

/// The bitwise or of the strides of the first `count` axes on one side, in bytes. A power of two
/// that divides all of them divides it.
inline std::uint64_t joined_steps(const CopyPlan& plan, std::size_t count, bool source) {
  std::uint64_t all = 0;
  for (std::size_t i = 0; i < count; ++i)
    all |= source ? bits(plan.axes[i].source_stride * plan.source_unit)
                  : bits(plan.axes[i].target_stride * plan.target_unit);
  return all;
}

// ---- copy_axes.cpp

/// Adds the axes of extent > 1, reversed where target strides are negative.
void take_axes(const Layout& source, const Layout& target, CopyPlan& plan);
/// Sorts the axes by descending target stride, and merges adjacent ones where both strides allow
/// it.
void sort_and_merge(CopyAxes& axes);
/// For equal dtypes: replaces elements by the widest words that both sides allow.
void widen(CopyPlan& plan, const Array& source, const Array& target);
bool is_wide(const CopyPlan& plan);

// ---- copy_tiles.cpp

/// If source and target are contiguous along different axes, moves these to the end, the source's
/// first, and returns true.
bool find_transposed_axes(CopyPlan& plan);
/// Completes such a plan as thin, or as tiled or packed; false if its axes are too short. `source`
/// and `target` are the addresses of the first units.
bool make_thin(CopyPlan& plan, std::uintptr_t source, std::uintptr_t target);
bool make_tiles(CopyPlan& plan, std::uintptr_t source, std::uintptr_t target, bool casts);

// ---- copy_small_arrays.cpp

/// Kind::small_arrays.
bool make_small_arrays(CopyPlan& plan, std::uintptr_t source, std::uintptr_t target);

// ---- copy_units.cpp

/// The maximum of elements per unit, at most 16 bytes, for which the target is aligned and, with
/// `source_in_units`, the source too.
int elements_per_unit(const CopyPlan& plan, std::uintptr_t source, std::uintptr_t target,
                      bool source_in_units);
/// Sets the number of elements per unit; the strides of sides that are accessed in units count
/// units.
void use_units(CopyPlan& plan, int count, bool source_in_units);
/// Chooses the widest units of a strided plan, for any pattern of the source.
void widen_units(CopyPlan& plan, const Array& source, const Array& target);
/// Kind::aligned_chunks.
bool make_aligned_chunks(CopyPlan& plan, const Array& source, const Array& target);

}  // namespace spanwise::cuda
