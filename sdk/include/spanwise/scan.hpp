// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

/// Launch parameters of kernels on <spanwise/scan.cuh> and <spanwise/scan_blocks.cuh>.
namespace spanwise {

/// Threads per block.
inline constexpr std::int64_t scan_threads = 256;

/// Elements per chunk of a block; `element` and `result` are sizes in bytes.
constexpr std::int64_t scan_chunk(int element, int result) noexcept {
  return 32768 / std::max(element, result);
}

/// Whether to scan each line with one warp (WarpScan) instead of splitting it into chunks.
constexpr bool scan_by_warps(std::int64_t lines, std::int64_t length, std::int64_t chunk) noexcept {
  return length <= 512 || (lines >= 4096 && length < chunk);
}

/// Elements per vectorised access to an array with elements of `item` bytes, where the other array
/// has elements of `other` bytes. With vectorised access every line must begin at a multiple of
/// this in both arrays.
constexpr int scan_pack(int item, int other) noexcept {
  return static_cast<int>(
      std::min<std::int64_t>(16 / item, scan_chunk(item, other) / scan_threads));
}

/// 8-byte words of scratch memory per line, through which its blocks exchange prefixes;
/// `accumulator` in bytes.
constexpr std::int64_t scan_words(std::int64_t chunks, int accumulator) noexcept {
  const std::int64_t groups = chunks > 32 ? (chunks + 31) / 32 : 0;
  return (chunks + 32 * groups + 32 * ((groups + 31) / 32)) * (accumulator / 4);
}
/// Words before those of the first line; the first is the block counter.
inline constexpr std::int64_t scan_counter_words = 2;

}  // namespace spanwise
