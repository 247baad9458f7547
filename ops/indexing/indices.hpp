// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "indexing.hpp"
#include "spanwise/stream.hpp"

/// Index arrays made ready for use.
namespace spanwise::ops {

/// Throws BoundsError in NumPy's words, with the whole shape.
[[noreturn]] void fail_outside(std::int64_t index, int axis, const Shape& shape);

/// Waits for queued work that a use on the host must come after; for most arrays there is none.
inline void await(const Array& array, bool writes) {
  if (array.storage() && !array.storage().uses().none())
    order_use(Stream::current(array.device()), array, writes);
}

/// The same values as int64, shared where they are that. Throws BoundsError for a dtype that cannot
/// index.
Array as_int64(const Array& indices);

/// `index` on the device of `target`; a copy where `target` will be written and shares its memory.
Array on_device_of(const Array& index, const Array& target, bool target_is_written);

/// Values that are inside `extent`, negative ones counting from the end, as int64 on the device of
/// `target`. Throws BoundsError for one that is not and Bounds::raise; waits for the current stream
/// then if the indices are on a GPU.
Array usable_indices(const Array& indices, std::int64_t extent, int axis, const Shape& shape,
                     Bounds bounds, const Array& target, bool target_is_written);

}  // namespace spanwise::ops
