// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spanwise/array.hpp"

/// Dense layouts: their elements fill the memory without gaps, in any order of axes, so a plain
/// copy of bytes can move them.
namespace spanwise::runtime {

/// Whether every offset from the lowest to the highest belongs to exactly one element.
bool is_dense(const Layout& layout);

/// Whether both have the same shape and the same strides on axes of extent > 1.
bool same_steps(const Layout& a, const Layout& b) noexcept;

/// The lowest address of an element of a non-empty array.
void* lowest_address(const Array& array) noexcept;

/// An uninitialised dense array with the shape of `like` and its order of axes by stride.
Array empty_like(const Array& like, DType dtype, Device device);
/// The same with `source`'s shape on the CPU, for a copy of it; pinned where that makes the copy
/// faster.
Array pinned_result(const Array& source, DType dtype);

}  // namespace spanwise::runtime
