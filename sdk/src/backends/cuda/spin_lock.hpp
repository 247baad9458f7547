// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <thread>

namespace spanwise::cuda {

/// A mutex for a few instructions on the path of every small call, in a third of the time of a
/// Mutex. A fork does not wait for its holder: a forked child, where the driver is not usable, must
/// not lock it.
class SpinLock {
 public:
  void lock() noexcept {
    while (!try_lock()) std::this_thread::yield();
  }
  bool try_lock() noexcept { return !is_held_.exchange(true, std::memory_order_acquire); }
  void unlock() noexcept { is_held_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> is_held_{false};
};

}  // namespace spanwise::cuda
