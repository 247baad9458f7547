// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <mutex>
#include <thread>

namespace spanwise::graph {

/// Something that one thread at a time has, and that knows when the same thread asks again.
class TurnLock {
 public:
  bool is_mine() const noexcept {
    return holder_.load(std::memory_order_relaxed) == std::this_thread::get_id();
  }
  /// Waits. Only where !is_mine().
  void lock() {
    mutex_.lock();
    holder_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  }
  bool try_lock() {
    if (is_mine() || !mutex_.try_lock()) return false;
    holder_.store(std::this_thread::get_id(), std::memory_order_relaxed);
    return true;
  }
  void unlock() noexcept {
    holder_.store({}, std::memory_order_relaxed);
    mutex_.unlock();
  }

 private:
  std::mutex mutex_;
  std::atomic<std::thread::id> holder_{};
};

}  // namespace spanwise::graph
