// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "selection.hpp"

namespace spanwise::ops {

enum class Direction { read, write };

/// Moves the selected elements to (read) or from (write) `value`, an array of the result's shape
/// and the array's dtype, of any strides, that shares no byte with the array; both in memory of the
/// host. By element size, not dtype. Large reads are shared among threads; writes only where no
/// element is written twice.
void move_on_host(const Selection& selection, const Array& value, Direction direction);

}  // namespace spanwise::ops
