// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "spanwise/array.hpp"
#include "spanwise/devices.hpp"
#include "spanwise/export.hpp"
#include "spanwise/scalar.hpp"

namespace spanwise {

/// `bytes` fresh, uninitialised bytes on `device`, 256-byte aligned. On a GPU they come from the
/// device's stream-ordered pool and are usable on the current stream at once; they go back to it
/// after all work queued on them. Throws OutOfMemoryError saying what was asked and what is free.
SW_API Storage allocate(std::size_t bytes, Device device);

/// Uninitialised, C order. Throws LayoutError for a bad shape, OutOfMemoryError.
SW_API Array empty(const Shape& shape, DType dtype, Device device = default_device());
/// The same in a layout that is compact (its elements fill its memory) and starts at offset 0.
SW_API Array empty_in(Layout layout, DType dtype, Device device = default_device());
SW_API Array zeros(const Shape& shape, DType dtype, Device device = default_device());
/// Every element `value`, cast to `dtype`. Queued on the current stream.
SW_API Array full(const Shape& shape, const Scalar& value, DType dtype,
                  Device device = default_device());
/// Uninitialised with `like`'s shape, dtype and device; its axes keep `like`'s order of strides
/// (NumPy's order='K').
SW_API Array empty_like(const Array& like);

}  // namespace spanwise
