// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "spanwise/bridge.hpp"
#include "spanwise/core/layout.hpp"

/// The bytes that a description of foreign memory covers, and Layouts over them.
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
ByteExtent byte_extent_of(const ForeignMemory& memory);

/// The layout in elements, for memory for which find_blocker() returns nothing.
Layout layout_of(const ForeignMemory& memory, const ByteExtent& covered);
/// The layout in bytes of any memory, with the axes of the result of share_bytes().
Layout byte_layout_of(const ForeignMemory& memory, const ByteExtent& covered);
/// The shape of byte_layout_of().
Shape byte_shape_of(const ForeignMemory& memory);

/// As find_share_blocker(), for memory whose byte_extent_of() is `covered`.
std::optional<ShareBlocker> find_blocker(const ForeignMemory& memory, const ByteExtent& covered);

}  // namespace spanwise::bridges
