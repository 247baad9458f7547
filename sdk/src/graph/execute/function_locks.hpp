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
  /// Waits for a running call. Throws GraphError naming `function` where waiting would deadlock:
  /// in an op of the function itself, or of a function that the running call waits for.
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
  /// Locks without waiting, possibly not all of them.
  UpdateLock(std::span<const Ref<SharedValue>> shared, std::try_to_lock_t) noexcept;
  ~UpdateLock() { unlock(); }
  bool has_all() const noexcept { return locked_ == shared_.size(); }
  UpdateLock(const UpdateLock&) = delete;
  UpdateLock& operator=(const UpdateLock&) = delete;

 private:
  void unlock() noexcept;

  std::span<const Ref<SharedValue>> shared_;
  std::size_t locked_ = 0;
};

}  // namespace spanwise::graph
