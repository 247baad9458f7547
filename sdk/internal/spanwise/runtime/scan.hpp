// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "spanwise/core/device.hpp"

/// Launch parameters of kernels on <spanwise/scan.cuh>.
namespace spanwise {

/// Threads per block, and bytes of each thread's elements or results in a buffer.
inline constexpr std::int64_t scan_threads = 128, scan_thread_bytes = 128;

/// Elements per vectorised access (at most 16 bytes) to the array with elements of `itemsize`
/// bytes, in a scan from or to an array with elements of `other_itemsize` bytes. For vectorised
/// access every line must begin at a multiple of this in both arrays.
constexpr int scan_pack(int itemsize, int other_itemsize) noexcept {
  return static_cast<int>(std::min<std::int64_t>(
      16 / itemsize, scan_thread_bytes / std::max(itemsize, other_itemsize)));
}

/// 8-byte words of scratch memory per line, through which its blocks exchange the sums of chunks,
/// of groups of 32 chunks and of 32 groups (TilePrefixState). `accumulator` in bytes.
constexpr std::int64_t scan_words(std::int64_t chunks, int accumulator) noexcept {
  const std::int64_t groups = chunks > 32 ? (chunks + 31) / 32 : 0, supers = (groups + 31) / 32;
  return (chunks + 32 * (groups + supers)) * (accumulator / 4) + (groups + supers + 1) / 2 * 2;
}

/// How a kernel scans `lines` lines of `length` elements; `element`, `result` and `accumulator` are
/// sizes in bytes.
struct ScanLaunch {
  /// Whether one warp scans each line (WarpScan), else one block each chunk of a line (BlockScan).
  bool by_warps;
  std::int64_t chunks;        ///< of each line
  std::int64_t blocks;        ///< of the grid
  std::int64_t shared_bytes;  ///< dynamic shared memory
  /// 8-byte words of scratch memory, zeroed before the launch. If 0, the kernel takes a null
  /// pointer.
  std::int64_t words;

  constexpr ScanLaunch(std::int64_t lines, std::int64_t length, int element, int result,
                       int accumulator) noexcept {
    // More blocks than run at a time would find no chunks left.
    constexpr std::int64_t max_blocks = 2048;
    const std::int64_t chunk = scan_threads * (scan_thread_bytes / std::max(element, result));
    by_warps = length <= 512 || (lines >= 4096 && length < 2 * chunk);
    chunks = (length - 1) / chunk + 1;
    blocks =
        by_warps ? (lines - 1) / (scan_threads / 32) + 1 : std::min(lines * chunks, max_blocks);
    shared_bytes = (by_warps ? 1 : 3) * scan_threads * scan_thread_bytes;
    // The first two words hold the counter of chunks.
    words = by_warps || chunks == 1 ? 0 : 2 + lines * scan_words(chunks, accumulator);
  }
};

/// How a kernel on <spanwise/scan_pipeline.cuh> scans long contiguous lines, each of which begins
/// at a multiple of 16 bytes in both arrays.
struct ScanPipeline {
  /// Threads per block, and bytes of the elements of a chunk. tests/ops/scan_sizes_test.cpp
  /// compares these sizes with the constants of the kernels.
  static constexpr std::int64_t threads = 512, chunk_bytes = 12 * 32 * 48;
  static constexpr std::int64_t shared_bytes = 12 * chunk_bytes;  ///< dynamic shared memory

  std::int64_t chunks = 0;  ///< of each line
  /// Of the grid; 0 if `device` has no bulk copies, or ScanLaunch's kernels are as fast.
  std::int64_t blocks = 0;
  std::int64_t words = 0;  ///< of scratch memory, 8 bytes each, zeroed before the launch

  /// The arguments as for ScanLaunch.
  ScanPipeline(Device device, std::int64_t lines, std::int64_t length, int element, int result,
               int accumulator);
};

}  // namespace spanwise
