// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "spanwise/bridge.hpp"
#include "spanwise/layout.hpp"

/// Converts a foreign description of memory to bytes and a Layout over them.
namespace spanwise::bridges {

/// The bytes that a description covers: `bytes` bytes from `lowest` on; element (0, ..., 0) is at
/// byte `first`.
struct ByteExtent {
  void* lowest = nullptr;
  std::size_t bytes = 0;
  std::int64_t first = 0;
  std::int64_t size = 0;  ///< elements
};

/// Throws BridgeError if extents are negative, strides are missing, the address is null, or sizes
/// or addresses do not fit in 63 bits.
ByteExtent span_of(const ForeignMemory& memory);

/// The layout in elements of memory for which find_blocker() finds nothing.
Layout layout_of(const ForeignMemory& memory, const ByteExtent& span);
/// The layout in bytes of any memory, with the axes that share_bytes() promises.
Layout byte_layout_of(const ForeignMemory& memory, const ByteExtent& span);
/// The shape that byte_layout_of() has.
Shape byte_shape_of(const ForeignMemory& memory);

/// As find_share_blocker(), for memory whose span is known.
std::optional<ShareBlocker> find_blocker(const ForeignMemory& memory, const ByteExtent& span);

}  // namespace spanwise::bridges
