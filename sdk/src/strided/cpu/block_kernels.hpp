// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

#include "spanwise/strided/cpu_loop.hpp"

namespace spanwise::strided {

/// The two innermost loops of a copy, the inner one along the target's smallest step.
using Block = HostBlock;

using BlockKernel = void (*)(const Block& block);

/// Converts elements as core::convert does; both dtypes are computable. Ignores `non_temporal`.
BlockKernel cast_kernel(DType from, DType to);

/// The size of a tile: about half of an L1 cache.
inline constexpr std::int64_t tile_bytes = 1 << 14;

/// The extents of the tiles into which transpose kernels split a block of words of `bytes`: nearly
/// square, or of one tile's length if the block is thin.
struct TileSides {
  std::int64_t rows, columns;
};
TileSides tile_sides(int bytes, std::int64_t rows, std::int64_t columns) noexcept;

/// Writes `count` adjacent words; word k is read `offsets[k]` bytes after `source`.
using GatherKernel = void (*)(std::byte* target, const std::byte* source,
                              const std::int32_t* offsets, std::int64_t count, bool non_temporal);

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
  GatherKernel gather[5];
  /// To be called after gathers with non-temporal stores.
  void (*end_streaming)();
};
/// The loops for this processor.
const MoveKernels& move_kernels() noexcept;

/// The index of words of `bytes` in MoveKernels.
inline int kernel_index(int bytes) noexcept {
  return std::countr_zero(static_cast<unsigned>(bytes));
}

/// The loops that every processor has (move_loops.inc).
extern const MoveKernels baseline_kernels;
#if defined(__x86_64__)
/// Casts in wide vectors; nullptr if there is none between these dtypes.
BlockKernel avx2_cast(DType from, DType to);
BlockKernel avx512_cast(DType from, DType to);
#endif

}  // namespace spanwise::strided
