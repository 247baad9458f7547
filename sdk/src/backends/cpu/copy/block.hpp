// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "spanwise/dtype.hpp"

namespace spanwise::host {

/// Two loops of a copy, the inner one along the target's smallest step. Steps in bytes.
struct Block {
  std::byte* target;
  const std::byte* source;
  std::int64_t rows, columns;  ///< outer and inner extent
  std::int64_t target_row_step, target_step;
  std::int64_t source_row_step, source_step;
};

using BlockKernel = void (*)(const Block& block);

/// An element of N bytes that need not be aligned.
template <int N>
struct Word {
  std::byte bytes[N];
};

template <class T>
T load_unaligned(const std::byte* place) noexcept {
  T value;
  std::memcpy(&value, place, sizeof value);
  return value;
}
template <class T>
void store_unaligned(std::byte* place, const T& value) noexcept {
  std::memcpy(place, &value, sizeof value);
}

/// Converts elements as core::convert does; both dtypes computable.
BlockKernel cast_kernel(DType from, DType to);
/// Moves words of `bytes` (1, 2, 4, 8 or 16), any steps.
BlockKernel move_kernel(int bytes);
/// The same where target_step and source_row_step are `bytes`: neighbours in the one are rows in
/// the other.
BlockKernel transpose_kernel(int bytes);
/// Copies whole rows; target_step and source_step are the word's size, `columns` counts bytes.
void copy_rows(const Block& block);

}  // namespace spanwise::host
