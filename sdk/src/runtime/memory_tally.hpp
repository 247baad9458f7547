// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace spanwise::runtime {

/// How much memory of a pool is in use, by how many blocks, and the most there ever was. Any
/// thread; the figures are each right, and together of nearly one moment.
class MemoryTally {
 public:
  void add(std::int64_t bytes) noexcept {
    const std::int64_t now = bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    blocks_.fetch_add(1, std::memory_order_relaxed);
    std::int64_t most = peak_.load(std::memory_order_relaxed);
    while (now > most && !peak_.compare_exchange_weak(most, now, std::memory_order_relaxed)) {
    }
  }
  void remove(std::int64_t bytes) noexcept {
    bytes_.fetch_sub(bytes, std::memory_order_relaxed);
    blocks_.fetch_sub(1, std::memory_order_relaxed);
  }
  /// From now on the peak counts from what is in use.
  void reset_peak() noexcept { peak_.store(bytes(), std::memory_order_relaxed); }

  std::int64_t bytes() const noexcept { return bytes_.load(std::memory_order_relaxed); }
  std::int64_t blocks() const noexcept { return blocks_.load(std::memory_order_relaxed); }
  std::int64_t peak() const noexcept { return peak_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> bytes_{0}, blocks_{0}, peak_{0};
};

}  // namespace spanwise::runtime
