// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "host_move.hpp"

namespace spanwise::ops {

/// `count` elements, or rows of `row_bytes`, between array + offsets[i] and value + i * value_step.
/// All in bytes; nothing needs to be aligned.
using MoveLoop = void (*)(std::byte* array, const std::int64_t* offsets, std::int64_t count,
                          std::byte* value, std::int64_t value_step, std::int64_t row_bytes);

/// The loop for elements of 1, 2, 4, 8 or 16 bytes; for any other number, whole rows.
MoveLoop move_loop(Direction direction, std::int64_t row_bytes) noexcept;

}  // namespace spanwise::ops
