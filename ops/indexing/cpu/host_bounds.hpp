// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace spanwise::ops {

/// The range of indices into an axis.
enum class IndexRange : std::uint8_t {
  outside,          ///< at least one is not in [-extent, extent)
  from_either_end,  ///< all are, and some are negative
  from_start,       ///< all are in [0, extent)
};

IndexRange classify_indices(const std::int64_t* indices, std::int64_t count,
                            std::int64_t extent) noexcept;

/// Whether all of `count` indices are in [-extent, extent).
inline bool all_inside(const std::int64_t* indices, std::int64_t count,
                       std::int64_t extent) noexcept {
  return classify_indices(indices, count, extent) != IndexRange::outside;
}

}  // namespace spanwise::ops
