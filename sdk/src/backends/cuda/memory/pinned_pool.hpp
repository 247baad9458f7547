// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <set>
#include <vector>

#include "backends/cuda/context.hpp"
#include "spanwise/core/fork.hpp"

namespace spanwise::cuda {

/// Page-locked host memory for results of device-to-host copies: the device writes to it directly,
/// while the driver copies to pageable memory through a buffer of its own. Users get the results as
/// ordinary CPU arrays. Thread-safe.
///
/// Locking pages takes as long as many copies, so a block is allocated only after several requests
/// for its size, and is cached when it is no longer used. All blocks together take at most
/// max_held bytes.
class PinnedPool {
 public:
  static constexpr std::size_t min_bytes = std::size_t{64} << 10, max_bytes = std::size_t{64} << 20,
                               max_held = std::size_t{512} << 20;

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
  static constexpr int requests_before_first_block = 2;
  struct SizeClass {
    int requests = 0;
    std::vector<void*> free;
  };
  static std::size_t rounded(std::size_t bytes) noexcept { return std::bit_ceil(bytes); }
  SizeClass& size_for(std::size_t bytes) noexcept {
    return sizes_[static_cast<std::size_t>(std::countr_zero(rounded(bytes) / min_bytes))];
  }
  void* allocate(std::size_t bytes);

  DeviceContext& context_;
  Mutex mutex_;
  std::array<SizeClass, std::countr_zero(max_bytes / min_bytes) + 1> sizes_;
  std::set<const void*> blocks_;
  std::size_t held_ = 0;
};

}  // namespace spanwise::cuda
