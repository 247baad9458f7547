// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cpu/host_move.hpp"

/// The values that are read from a selection or written to it.
namespace spanwise::ops {

/// Throws ReadOnlyError.
void check_writable(const Array& array);

/// The value cast to the target's dtype, on its device, broadcast to the selection's shape and
/// sharing no memory with the target. Throws LayoutError.
Array fitting_value(const Selection& selection, Array value);

/// Waits for queued work that conflicts with a move on the host.
void await_all(const Selection& selection, const Array& value, Direction direction);

/// IndexingBackend::move() of the array's device.
void move(const Selection& selection, const Array& value, Direction direction);

}  // namespace spanwise::ops
