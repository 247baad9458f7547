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
  bool stream;  ///< write past the caches: the target is larger than they are
};

using BlockKernel = void (*)(const Block& block);

/// A word of N bytes that need not be aligned.
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

/// Converts elements as core::convert does; both dtypes computable. Does not heed `stream`.
BlockKernel cast_kernel(DType from, DType to);

/// What an L1 cache holds beside the lines that pass: the size of a tile.
inline constexpr std::int64_t tile_bytes = 1 << 14;

/// The extents of the tiles that a crossing kernel cuts a block of words of `bytes` into: near a
/// square, or as long as one tile holds where the block is thin.
struct TileSides {
  std::int64_t rows, columns;
};
TileSides tile_sides(int bytes, std::int64_t rows, std::int64_t columns) noexcept;

/// The loops that move words, for one instruction set. Places by the logarithm of the word's bytes:
/// 1, 2, 4, 8, 16.
struct MoveKernels {
  /// Any steps.
  BlockKernel move[5];
  /// Any steps; the bytes of each word, of 2 to 8 bytes, are turned around.
  BlockKernel swap[5];
  /// target_step is the word, and the source runs along the rows: tiles are turned on the way.
  BlockKernel cross[5];
  /// target_step is source_step is the word, of any size: whole runs of bytes.
  BlockKernel rows;
};
/// For the processor that this runs on.
const MoveKernels& move_kernels() noexcept;

/// The sets of loops there are (move_loops.hpp).
extern const MoveKernels baseline_kernels;
#if defined(__x86_64__)
extern const MoveKernels avx2_kernels;

/// The casts in wide vectors; nullptr where there is none between these dtypes.
BlockKernel avx2_cast(DType from, DType to);
BlockKernel avx512_cast(DType from, DType to);
#endif

}  // namespace spanwise::host
