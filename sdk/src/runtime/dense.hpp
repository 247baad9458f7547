// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spanwise/array.hpp"

/// Layouts that fill their memory without gaps, in any order of axes: what one plain copy of bytes
/// can move.
namespace spanwise::runtime {

/// Whether every element offset from the lowest to the highest belongs to exactly one index.
bool is_dense(const Layout& layout);

/// Whether element i of both stands at the same distance from the lowest element, for every i.
bool same_steps(const Layout& a, const Layout& b) noexcept;

/// The address of the lowest element of an array with elements.
void* lowest_address(const Array& array) noexcept;

/// Uninitialised, with the shape of `like`, dense, in its order of axes.
Array empty_like(const Array& like, DType dtype, Device device);
/// The same on the CPU for a copy of `source`, in memory that its device may fill sooner.
Array pinned_result(const Array& source, DType dtype);

}  // namespace spanwise::runtime
