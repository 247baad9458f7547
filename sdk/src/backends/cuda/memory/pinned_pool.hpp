// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "backends/cuda/context.hpp"
#include "spanwise/fork.hpp"

namespace spanwise::cuda {

/// Page-locked host memory for results of device-to-host copies: the device writes to it directly,
/// while the driver copies to pageable memory through a buffer of its own. Users get the results as
/// ordinary CPU arrays. Thread-safe.
///
/// Locking pages takes as long as many copies, so a block is allocated only after several requests
/// for its size, and is cached when it is no longer used. All blocks together take at most
/// most_held bytes.
class PinnedPool {
 public:
  static constexpr std::size_t least_bytes = std::size_t{64} << 10,
                               most_bytes = std::size_t{64} << 20,
                               most_held = std::size_t{512} << 20;

  explicit PinnedPool(DeviceContext& context) : context_(context) {}
  PinnedPool(const PinnedPool&) = delete;
  PinnedPool& operator=(const PinnedPool&) = delete;

  /// Null if the caller has to use pageable memory: `bytes` is out of range, the size was requested
  /// too rarely, the limit is reached, or the driver fails.
  void* take(std::size_t bytes);
  /// Caches a block of take(), which must be idle. `bytes` is the size that was requested.
  void put(void* data, std::size_t bytes) noexcept;
  /// Whether `data` is a block of take().
  bool has(const void* data) noexcept;
  /// Unlocks and frees the cached blocks.
  void trim() noexcept;

 private:
  static constexpr int unproven = 2;  // requests for a size before its first block is allocated
  struct Size {
    int asked = 0;
    std::vector<void*> free;
  };
  static std::size_t rounded(std::size_t bytes) noexcept { return std::bit_ceil(bytes); }
  Size& size_for(std::size_t bytes) noexcept {
    return sizes_[static_cast<std::size_t>(std::countr_zero(rounded(bytes) / least_bytes))];
  }
  void* make(std::size_t bytes);

  DeviceContext& context_;
  Mutex mutex_;
  std::array<Size, std::countr_zero(most_bytes / least_bytes) + 1> sizes_;
  std::set<const void*> made_;
  std::size_t held_ = 0;
};

}  // namespace spanwise::cuda
