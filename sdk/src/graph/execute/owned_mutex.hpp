// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <mutex>
#include <thread>

#include "spanwise/core/fork.hpp"
#include "spanwise/core/interpreter_lock.hpp"

namespace spanwise::graph {

/// A mutex that records its owner. It is held while ops run, which may need the interpreter's lock
/// or lock other mutexes of this class. So a waiting thread releases the interpreter's lock, and a
/// wait that would deadlock fails. In a forked child it is free unless the forking thread holds it.
class OwnedMutex final : ForkParticipant {
 public:
  OwnedMutex() noexcept = default;
  ~OwnedMutex() = default;

  bool is_mine() const noexcept {
    return owner_.load(std::memory_order_relaxed) == std::this_thread::get_id();
  }
  /// Locks the mutex. Returns false at once where that would deadlock: this thread holds it
  /// already, or its owner waits, directly or through other such mutexes, for one that this thread
  /// holds.
  [[nodiscard]] bool lock() {
    if (is_mine()) return false;
    if (!mutex_.try_lock()) return wait(InterpreterUnlocked());
    own();
    return true;
  }
  bool try_lock() {
    if (is_mine() || !mutex_.try_lock()) return false;
    own();
    return true;
  }
  void unlock() noexcept {
    owner_.store({}, std::memory_order_relaxed);
    mutex_.unlock();
  }

 private:
  class Waits;
  static Waits& waits();
  void own() noexcept { owner_.store(std::this_thread::get_id(), std::memory_order_relaxed); }
  bool wait(const InterpreterUnlocked&);

  bool try_pause() noexcept override;
  void resume() noexcept override;
  void after_fork_in_child(bool was_paused) noexcept override;
  /// Short, since the owner may be waiting for the interpreter's lock, which the forking thread
  /// holds.
  std::chrono::milliseconds pause_timeout() const noexcept override {
    return std::chrono::milliseconds(10);
  }

  std::mutex mutex_;
  std::atomic<std::thread::id> owner_{};
};

}  // namespace spanwise::graph
