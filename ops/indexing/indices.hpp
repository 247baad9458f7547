// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "cpu/host_loops.hpp"
#include "indexing.hpp"
#include "spanwise/core/device.hpp"

/// Checks and conversions of index arrays, and of the values that are read or written.
namespace spanwise::ops {

/// The indices as int64; the array itself if it is int64. Throws BoundsError for a dtype that is
/// not an integer.
Array as_int64(const Array& indices);

/// `index` on the device of `target`; a copy if `target` will be written and shares its memory.
Array on_device_of(const Array& index, const Array& target, bool target_is_written);

/// The indices as int64 on the device of `target`, each in [-extent, extent) after `bounds` is
/// applied. With Bounds::raise, throws BoundsError for others; waits for the current stream then if
/// the indices are on a GPU.
Array usable_indices(const Array& indices, std::int64_t extent, int axis, const Shape& shape,
                     Bounds bounds, const Array& target, bool target_is_written);

/// Throws ReadOnlyError.
void check_writable(const Array& array);

/// The value cast to the target's dtype, on its device, broadcast to the selection's shape and
/// sharing no memory with the target. Throws LayoutError.
Array broadcast_value(const Selection& selection, Array value);

/// Waits for queued work that conflicts with a move on the host.
void await_all(const Selection& selection, const Array& value, MoveDirection direction);

/// IndexingBackend::move() of the array's device.
void move(const Selection& selection, const Array& value, MoveDirection direction);

}  // namespace spanwise::ops
