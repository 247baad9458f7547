// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spanwise/core/array.hpp"

/// Dense layouts: their elements fill the memory without gaps, in any order of axes, so a plain
/// copy of bytes can move them.
namespace spanwise::runtime {

/// Whether every offset from the lowest to the highest belongs to exactly one element.
bool is_dense(const Layout& layout);

/// Whether the shapes are equal, and the strides of all axes whose extent is not 1.
bool same_shape_and_strides(const Layout& a, const Layout& b) noexcept;

/// The lowest address of an element of a non-empty array.
void* lowest_address(const Array& array) noexcept;

/// An uninitialised dense array with the shape of `like` and its order of axes by stride.
Array empty_like(const Array& like, DType dtype, Device device);
/// An uninitialised dense array on the CPU for a copy of `source`, with its shape and its order of
/// axes by stride; page-locked where that makes the copy faster.
Array empty_on_host(const Array& source, DType dtype);

}  // namespace spanwise::runtime
