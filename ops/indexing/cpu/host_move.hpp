// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "../selection.hpp"

namespace spanwise::ops {

enum class Direction { read, write };

/// `count` elements, or rows of `row_bytes`, between array + offsets[i] and value + i * value_step.
using MoveLoop = void (*)(std::byte* array, const std::int64_t* offsets, std::int64_t count,
                          std::byte* value, std::int64_t value_step, std::int64_t row_bytes);

/// Moves the selected elements to (read) or from (write) `value`, an array of the result's shape
/// and the array's dtype, of any strides, that shares no byte with the array; both in memory of the
/// host. By element size, not dtype. Large reads are shared among threads; writes only where no
/// element is written twice. Another `loop` than move_loop()'s does something else with the two,
/// in C order for each element.
void move_on_host(const Selection& selection, const Array& value, Direction direction,
                  MoveLoop loop = nullptr);

}  // namespace spanwise::ops
