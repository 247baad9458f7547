// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <span>
#include <string>
#include <thread>

#include "spanwise/core/fork.hpp"
#include "spanwise/core/interpreter_lock.hpp"
#include "spanwise/graph/shared.hpp"

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

/// Holds a function's mutex while it is called: calls of one function run one at a time.
class CallLock {
 public:
  /// Waits for the running call, if any. Throws GraphError naming `function` where that would
  /// deadlock: if an op of the same call made this one, or if the running call waits for a function
  /// that the calling thread runs.
  CallLock(OwnedMutex& mutex, const std::string& function);
  ~CallLock() { mutex_.unlock(); }
  CallLock(const CallLock&) = delete;
  CallLock& operator=(const CallLock&) = delete;

 private:
  OwnedMutex& mutex_;
};

/// Locks the shared variables that a call updates, from reading them to committing the updates.
class UpdateLock {
 public:
  /// `shared`, in the locking order common to all functions, must outlive the lock. Throws
  /// GraphError naming `function`, with nothing locked, where waiting would deadlock.
  UpdateLock(std::span<const Ref<SharedValue>> shared, const std::string& function);
  /// Locks them in order up to the first that is locked already; see holds_all().
  UpdateLock(std::span<const Ref<SharedValue>> shared, std::try_to_lock_t) noexcept;
  ~UpdateLock() { unlock(); }
  bool holds_all() const noexcept { return locked_ == shared_.size(); }
  UpdateLock(const UpdateLock&) = delete;
  UpdateLock& operator=(const UpdateLock&) = delete;

 private:
  void unlock() noexcept;

  std::span<const Ref<SharedValue>> shared_;
  std::size_t locked_ = 0;
};

}  // namespace spanwise::graph
