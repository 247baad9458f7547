// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "spanwise/dtype.hpp"
#include "spanwise/export.hpp"

namespace spanwise {

/// Rows and columns of elements in host memory, there and back; all steps in bytes, any sign.
struct HostBlock {
  std::byte* target;
  const std::byte* source;
  std::int64_t rows, columns;
  std::int64_t target_row_step, target_step;
  std::int64_t source_row_step, source_step;
};

/// Writes the source's elements, which are `from`, to the target as `to`, as copy() converts them;
/// neither side need be aligned. The inner loop of ops that work in one dtype and take any: gather
/// a piece, compute, scatter. Both dtypes are computable; source and target share no byte. The
/// caller has seen to the order of streams.
SW_API void convert_block(DType from, DType to, const HostBlock& block);

}  // namespace spanwise
