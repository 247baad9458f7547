// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

/// What a launch of kernels on <spanwise/scan.cuh> and <spanwise/scan_blocks.cuh> needs.
namespace spanwise {

/// Threads of a block.
inline constexpr std::int64_t scan_threads = 256;

/// The elements of a block's chunk; bytes of an element and of a result.
constexpr std::int64_t scan_chunk(int element, int result) noexcept {
  return 32768 / std::max(element, result);
}

/// Whether lines are better scanned by a warp each (WarpScan) than cut into chunks of blocks.
constexpr bool scan_by_warps(std::int64_t lines, std::int64_t length, std::int64_t chunk) noexcept {
  return length <= 512 || (lines >= 4096 && length < chunk);
}

/// The elements of the longest access to an array whose elements have `item` bytes, where those of
/// the other array have `other`. Lines of packs begin at a multiple of so many in both arrays.
constexpr int scan_pack(int item, int other) noexcept {
  return static_cast<int>(
      std::min<std::int64_t>(16 / item, scan_chunk(item, other) / scan_threads));
}

/// Words of 8 bytes that the blocks of a line write for one another; `accumulator` in bytes.
constexpr std::int64_t scan_words(std::int64_t chunks, int accumulator) noexcept {
  const std::int64_t groups = chunks > 32 ? (chunks + 31) / 32 : 0;
  return (chunks + 32 * groups + 32 * ((groups + 31) / 32)) * (accumulator / 4);
}
/// Words before those of the first line: the first counts blocks.
inline constexpr std::int64_t scan_counter_words = 2;

}  // namespace spanwise
