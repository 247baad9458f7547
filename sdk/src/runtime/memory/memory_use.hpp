// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>

#include "spanwise/core/fork.hpp"
#include "spanwise/runtime/memory.hpp"

namespace spanwise::runtime {

/// Memory accounting of one device, and the source of its new memory. Thread-safe.
class MemoryUse {
 public:
  /// The object of `device`; the CPU's for every device whose memory the host can address.
  static MemoryUse& of(Device device);

  /// Adds `bytes` to the used memory. Throws OutOfMemoryError, without counting, above the limit.
  void reserve(Device device, std::size_t bytes) {
    const auto more = static_cast<std::int64_t>(bytes);
    const std::int64_t now = used_.fetch_add(more, std::memory_order_relaxed) + more;
    if (now > limit_.load(std::memory_order_relaxed)) [[unlikely]]
      refuse(device, more);
  }
  /// Counts an allocation that succeeded, and updates the peak.
  void count() noexcept {
    allocations_.fetch_add(1, std::memory_order_relaxed);
    const std::int64_t now = used_.load(std::memory_order_relaxed);
    if (now > peak_.load(std::memory_order_relaxed)) raise_peak(now);
  }
  void release(std::size_t bytes) noexcept {
    used_.fetch_sub(static_cast<std::int64_t>(bytes), std::memory_order_relaxed);
  }

  /// used, peak, allocations, limit and source.
  MemoryStats stats() const;
  void reset_peak() noexcept;
  void set_limit(std::int64_t bytes) noexcept { limit_.store(bytes, std::memory_order_relaxed); }

  /// The MemorySource in use; null for the library's pool.
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
