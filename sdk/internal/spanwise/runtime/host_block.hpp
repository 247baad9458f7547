// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "spanwise/core/dtype.hpp"
#include "spanwise/core/export.hpp"

namespace spanwise {

/// A 2-d block of elements in host memory and its destination; all steps in bytes, of any sign.
struct HostBlock {
  std::byte* target;
  const std::byte* source;
  std::int64_t rows, columns;
  std::int64_t target_row_step, target_step;
  std::int64_t source_row_step, source_step;
  /// Use non-temporal stores: the whole target is larger than the caches. convert_block() ignores
  /// it where it converts.
  bool non_temporal = false;
};

/// Converts the source's elements from dtype `from` to `to`, as copy() does, and writes them to the
/// target. Neither side need be aligned. Ops that compute in one dtype use it in their inner loop
/// to gather operands and scatter results. Both dtypes must be computable; source and target must
/// not overlap. Does not order streams.
SW_API void convert_block(DType from, DType to, const HostBlock& block);

}  // namespace spanwise
