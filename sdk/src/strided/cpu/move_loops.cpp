// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <utility>

#include "spanwise/runtime/instruction_sets.hpp"
#include "strided/cpu/block_kernels.hpp"

namespace spanwise::strided {
namespace {

namespace baseline {
#define SW_VECTOR_BYTES 16
#include "strided/cpu/move_loops.inc"
#undef SW_VECTOR_BYTES
}  // namespace baseline

#if defined(__x86_64__)
SW_BEGIN_AVX2
namespace avx2 {
#define SW_VECTOR_BYTES 32
#include "strided/cpu/move_loops.inc"
#undef SW_VECTOR_BYTES
}  // namespace avx2
SW_END_INSTRUCTIONS
#endif

}  // namespace

constexpr MoveKernels baseline_kernels = baseline::kernels;

const MoveKernels& move_kernels() noexcept {
#if defined(__x86_64__)
  static const MoveKernels& best = has_avx2() ? avx2::kernels : baseline_kernels;
  return best;
#else
  return baseline_kernels;
#endif
}

TileSides tile_sides(int bytes, std::int64_t rows, std::int64_t columns) noexcept {
  const std::int64_t words = tile_bytes / bytes;
  // Measured: runs of 128 to 512 bytes in source and target are fastest. Shorter runs use DRAM
  // pages poorly; longer runs of one make those of the other shorter.
  const std::int64_t side = bytes <= 2 ? 128 / bytes : bytes <= 4 ? 64 : 32;
  // Lines wider than a vector are padded to whole vectors.
  const auto padded = [&](std::int64_t n) {
    return n * bytes < 16 ? n : (n * bytes + 31) / 32 * 32 / bytes;
  };
  if (rows < side) return {rows, std::min(columns, words / padded(rows) / 32 * 32)};
  if (columns < words / side) return {std::min(rows, words / padded(columns) / 32 * 32), columns};
  return {side, words / side};
}

}  // namespace spanwise::strided
