// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <mutex>

#include "backends/cuda/driver.hpp"
#include "backends/cuda/spin_lock.hpp"

namespace spanwise::cuda {

/// A cache of the memory blocks of up to 1 MiB that were freed on one stream. Later work on the
/// stream is ordered after their last use, so reusing them needs no synchronization and no call of
/// the driver, whose pool takes about a microsecond per call. Thread-safe; not for forked children.
class SmallBlocks {
 public:
  static constexpr std::size_t min_bytes = 512, max_bytes = std::size_t{1} << 20;

  SmallBlocks() = default;
  SmallBlocks(const SmallBlocks&) = delete;
  SmallBlocks& operator=(const SmallBlocks&) = delete;

  /// The block size for `bytes` <= max_bytes: the next power of two, at least min_bytes.
  static std::size_t rounded(std::size_t bytes) noexcept {
    return std::bit_ceil(std::max(bytes, min_bytes));
  }
  /// A cached block of rounded(bytes), or 0.
  CUdeviceptr take(std::size_t bytes) noexcept {
    SizeBin& bin = bin_for(bytes);
    const std::lock_guard lock(mutex_);
    return bin.count == 0 ? 0 : bin.blocks[--bin.count];
  }
  /// Caches the block; returns false if the cache is full for its size.
  bool try_keep(CUdeviceptr block, std::size_t bytes) noexcept {
    SizeBin& bin = bin_for(bytes);
    const std::lock_guard lock(mutex_);
    if (bin.count == max_kept || bin.count * rounded(bytes) >= max_kept_bytes) return false;
    bin.blocks[bin.count++] = block;
    return true;
  }
  /// Calls free(block) for all cached blocks and removes them.
  template <class F>
  void release(F&& free) noexcept {
    const std::lock_guard lock(mutex_);
    for (SizeBin& bin : bins_)
      while (bin.count > 0) free(bin.blocks[--bin.count]);
  }
  /// The total bytes of the cached blocks.
  std::size_t bytes() const noexcept {
    const std::lock_guard lock(mutex_);
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < bins_.size(); ++i) bytes += bins_[i].count * (min_bytes << i);
    return bytes;
  }

 private:
  // Of each size.
  static constexpr std::size_t max_kept = 64, max_kept_bytes = std::size_t{8} << 20;
  struct SizeBin {
    std::size_t count = 0;
    std::array<CUdeviceptr, max_kept> blocks;
  };
  SizeBin& bin_for(std::size_t bytes) noexcept {
    return bins_[static_cast<std::size_t>(std::countr_zero(rounded(bytes) / min_bytes))];
  }

  mutable SpinLock mutex_;
  std::array<SizeBin, std::countr_zero(max_bytes / min_bytes) + 1> bins_;
};

}  // namespace spanwise::cuda
