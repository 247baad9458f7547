// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "host_bounds.hpp"

#include <algorithm>

#include "spanwise/runtime/instruction_sets.hpp"

namespace spanwise::ops {
namespace {

namespace bounds_baseline {
#include "host_bounds.inc"
}
#if defined(__x86_64__)
SW_BEGIN_AVX2
namespace bounds_avx2 {
#include "host_bounds.inc"
}
SW_END_INSTRUCTIONS
#endif

}  // namespace

IndexRange classify_indices(const std::int64_t* indices, std::int64_t count,
                            std::int64_t extent) noexcept {
#if defined(__x86_64__)
  if (has_avx2()) return bounds_avx2::classify(indices, count, extent);
#endif
  return bounds_baseline::classify(indices, count, extent);
}

}  // namespace spanwise::ops
