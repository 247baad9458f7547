// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "spanwise/core/array.hpp"
#include "spanwise/core/export.hpp"
#include "spanwise/core/scalar.hpp"
#include "spanwise/runtime/devices.hpp"

namespace spanwise {

/// Allocates `bytes` uninitialised bytes on `device`, 256-byte aligned. On a GPU they come from the
/// device's stream-ordered pool, are usable on the current stream at once, and return to the pool
/// after all work queued on them. Throws OutOfMemoryError with the requested and the free size;
/// DeviceError for a device that does not exist or is neither cpu nor cuda.
SW_API Storage allocate(std::size_t bytes, Device device);

/// An uninitialised array in C order. Throws LayoutError for an invalid shape, OutOfMemoryError.
SW_API Array empty(const Shape& shape, DType dtype, Device device = default_device());
/// The same with a layout that must be dense (its elements fill their memory without gaps) and
/// start at offset 0 (not checked).
SW_API Array empty_in(Layout layout, DType dtype, Device device = default_device());
/// An array in C order with every element 0. On a GPU the zeros are written in the order of the
/// current stream.
SW_API Array zeros(const Shape& shape, DType dtype, Device device = default_device());
/// An array with every element `value`, cast to `dtype`. On a GPU the fill is queued on the current
/// stream.
SW_API Array full(const Shape& shape, const Scalar& value, DType dtype,
                  Device device = default_device());
/// An uninitialised array with `like`'s shape, dtype and device (the CPU for pinned and managed
/// memory); its axes have `like`'s order of strides (NumPy's order='K').
SW_API Array empty_like(const Array& like);

}  // namespace spanwise
