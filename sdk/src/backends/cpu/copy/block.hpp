// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "spanwise/dtype.hpp"

namespace spanwise::cpu_backend {

/// The two innermost loops of a copy, the inner one along the target's smallest step. Steps in
/// bytes.
struct Block {
  std::byte* target;
  const std::byte* source;
  std::int64_t rows, columns;  ///< outer and inner extent
  std::int64_t target_row_step, target_step;
  std::int64_t source_row_step, source_step;
  bool stream;  ///< use non-temporal stores: the target is larger than the caches
};

using BlockKernel = void (*)(const Block& block);

/// A word of N bytes without alignment.
template <int N>
struct Word {
  std::byte bytes[N];
};

template <class T>
T load_unaligned(const std::byte* address) noexcept {
  T value;
  std::memcpy(&value, address, sizeof value);
  return value;
}
template <class T>
void store_unaligned(std::byte* address, const T& value) noexcept {
  std::memcpy(address, &value, sizeof value);
}

/// Converts elements as core::convert does; both dtypes are computable. Ignores `stream`.
BlockKernel cast_kernel(DType from, DType to);

/// The size of a tile: about half of an L1 cache.
inline constexpr std::int64_t tile_bytes = 1 << 14;

/// The extents of the tiles into which transpose kernels split a block of words of `bytes`: nearly
/// square, or of one tile's length if the block is thin.
struct TileSides {
  std::int64_t rows, columns;
};
TileSides tile_sides(int bytes, std::int64_t rows, std::int64_t columns) noexcept;

/// The loops that copy words, for one instruction set, by log2 of the word's bytes: 1, 2, 4, 8, 16.
struct MoveKernels {
  /// Any steps.
  BlockKernel move[5];
  /// Any steps; reverses the bytes of each word of 2 to 8 bytes.
  BlockKernel swap[5];
  /// target_step is the size of the word, and the source is contiguous along the rows: transposes
  /// tiles.
  BlockKernel transpose[5];
  /// target_step and source_step are the size of the word, which may be any: copies contiguous
  /// bytes.
  BlockKernel rows;
};
/// The loops for this processor.
const MoveKernels& move_kernels() noexcept;

/// The loops of each instruction set (move_loops.hpp).
extern const MoveKernels baseline_kernels;
#if defined(__x86_64__)
extern const MoveKernels avx2_kernels;

/// Casts in wide vectors; nullptr if there is none between these dtypes.
BlockKernel avx2_cast(DType from, DType to);
BlockKernel avx512_cast(DType from, DType to);
#endif

}  // namespace spanwise::cpu_backend
