// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>

#include "spanwise/fork.hpp"
#include "spanwise/memory.hpp"

namespace spanwise::runtime {

/// What arrays of one device hold, and where the next one's memory comes from. Any thread.
class MemoryUse {
 public:
  /// Of the CPU for every device whose memory the host addresses.
  static MemoryUse& of(Device device);

  /// Counts `bytes` more as used. Throws OutOfMemoryError, and counts nothing, where that passes
  /// the limit.
  void take(Device device, std::size_t bytes) {
    const auto more = static_cast<std::int64_t>(bytes);
    const std::int64_t now = used_.fetch_add(more, std::memory_order_relaxed) + more;
    if (now > limit_.load(std::memory_order_relaxed)) [[unlikely]]
      refuse(device, more);
  }
  /// What was taken was to be had: an allocation.
  void count() noexcept {
    allocations_.fetch_add(1, std::memory_order_relaxed);
    const std::int64_t now = used_.load(std::memory_order_relaxed);
    if (now > peak_.load(std::memory_order_relaxed)) raise_peak(now);
  }
  void give_back(std::size_t bytes) noexcept {
    used_.fetch_sub(static_cast<std::int64_t>(bytes), std::memory_order_relaxed);
  }

  /// used, peak, allocations, limit and source.
  MemoryStats stats() const;
  void reset_peak() noexcept;
  void set_limit(std::int64_t bytes) noexcept { limit_.store(bytes, std::memory_order_relaxed); }

  /// Null where the library's pool serves.
  std::shared_ptr<MemorySource> source() const {
    if (!has_source_.load(std::memory_order_acquire)) [[likely]]
      return nullptr;
    const std::lock_guard lock(mutex_);
    return source_;
  }
  bool has_source() const noexcept { return has_source_.load(std::memory_order_acquire); }
  std::shared_ptr<MemorySource> exchange_source(std::shared_ptr<MemorySource> source);

  static constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

 private:
  void raise_peak(std::int64_t now) noexcept;
  [[noreturn]] void refuse(Device device, std::int64_t bytes);

  std::atomic<std::int64_t> used_{0}, peak_{0}, allocations_{0}, limit_{no_limit};
  std::atomic<bool> has_source_{false};
  mutable Mutex mutex_;
  std::shared_ptr<MemorySource> source_;
};

}  // namespace spanwise::runtime
