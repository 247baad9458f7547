// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <mutex>
#include <span>
#include <string>

#include "graph/execute/owned_mutex.hpp"
#include "spanwise/graph/shared.hpp"

/// The locks that a call of a compiled function holds.
namespace spanwise::graph {

/// Holds a function's mutex: calls of one function run one at a time.
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
