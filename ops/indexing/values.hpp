// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cpu/host_move.hpp"

/// What is read from a selection or written to it.
namespace spanwise::ops {

/// Throws ReadOnlyError.
void check_writable(const Array& array);

/// The value as the target's dtype, on its device, in memory of its own, and of the result's shape.
/// Throws LayoutError.
Array fitting_value(const Selection& selection, Array value);

/// On the host: waits for queued work that the move must come after.
void await_all(const Selection& selection, const Array& value, Direction direction);

/// As move_on_host(), on the array's device.
void move(const Selection& selection, const Array& value, Direction direction);

}  // namespace spanwise::ops
