// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "../selection.hpp"

namespace spanwise::ops {

enum class Direction { read, write };

/// Moves `count` elements, or rows of `row_bytes`, between array + offsets[i] and
/// value + i * value_step.
using MoveLoop = void (*)(std::byte* array, const std::int64_t* offsets, std::int64_t count,
                          std::byte* value, std::int64_t value_step, std::int64_t row_bytes);

/// Moves the selected elements to (read) or from (write) `value`, an array of the result's shape
/// and the array's dtype, of any strides, that shares no memory with the array; both are in host
/// memory. Large reads use several threads; writes only if no element is written twice. `loop`
/// replaces move_loop(), for example to accumulate; it is called in C order for each element.
void move_on_host(const Selection& selection, const Array& value, Direction direction,
                  MoveLoop loop = nullptr);

}  // namespace spanwise::ops
