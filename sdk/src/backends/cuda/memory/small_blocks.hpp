// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <mutex>

#include "backends/cuda/driver.hpp"
#include "spanwise/fork.hpp"

namespace spanwise::cuda {

/// Memory blocks of up to 1 MiB that were given back on one stream and are kept for the next array
/// on it. What comes later on the stream comes after their last use, so nothing has to be waited
/// for, and the driver, whose pool takes about a microsecond each way, is not asked. Any thread.
class SmallBlocks {
 public:
  static constexpr std::size_t least_bytes = 512, most_bytes = std::size_t{1} << 20;

  SmallBlocks() = default;
  SmallBlocks(const SmallBlocks&) = delete;
  SmallBlocks& operator=(const SmallBlocks&) = delete;

  /// What is taken for `bytes`, which are at most most_bytes: the next power of two.
  static std::size_t rounded(std::size_t bytes) noexcept {
    return std::bit_ceil(std::max(bytes, least_bytes));
  }
  /// A kept block of rounded(bytes), or 0.
  CUdeviceptr take(std::size_t bytes) noexcept {
    SizeBin& bin = shelf_for(bytes);
    const std::lock_guard lock(mutex_);
    return bin.count == 0 ? 0 : bin.blocks[--bin.count];
  }
  /// False where enough of that size are kept.
  bool keep(CUdeviceptr block, std::size_t bytes) noexcept {
    SizeBin& bin = shelf_for(bytes);
    const std::lock_guard lock(mutex_);
    if (bin.count == most_kept || bin.count * rounded(bytes) >= most_kept_bytes) return false;
    bin.blocks[bin.count++] = block;
    return true;
  }
  /// Calls free(block) for all that are kept, and keeps none; returns their bytes.
  template <class F>
  std::size_t release(F&& free) noexcept {
    const std::lock_guard lock(mutex_);
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < bins_.size(); ++i) {
      for (; bins_[i].count > 0; bytes += least_bytes << i) free(bins_[i].blocks[--bins_[i].count]);
    }
    return bytes;
  }

 private:
  static constexpr std::size_t most_kept = 64, most_kept_bytes = std::size_t{8} << 20;
  struct SizeBin {
    std::size_t count = 0;
    std::array<CUdeviceptr, most_kept> blocks;
  };
  SizeBin& shelf_for(std::size_t bytes) noexcept {
    return bins_[static_cast<std::size_t>(std::countr_zero(rounded(bytes) / least_bytes))];
  }

  Mutex mutex_;
  std::array<SizeBin, std::countr_zero(most_bytes / least_bytes) + 1> bins_;
};

}  // namespace spanwise::cuda
