// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/execute/function_locks.hpp"

#include "spanwise/core/error.hpp"

namespace spanwise::graph {

CallLock::CallLock(OwnedMutex& mutex, const std::string& function) : mutex_(mutex) {
  if (mutex_.is_mine())
    fail<GraphError>("function ", function,
                     " was called by an op that it is running; expected no recursion: compile a "
                     "second function for the inner call");
  if (!mutex_.lock())
    fail<GraphError>("function ", function,
                     " is running in another thread, in an op that waits for a function which "
                     "this thread is running; expected no two functions whose ops call each "
                     "other: compile a second function for the inner call");
}

UpdateLock::UpdateLock(std::span<const Ref<SharedValue>> shared, const std::string& function)
    : shared_(shared) {
  for (const Ref<SharedValue>& value : shared_)
    if (value->mutex().is_mine())
      fail<GraphError>("function ", function,
                       " updates a shared variable that the calling op's function updates too; "
                       "expected only one of the two to update it");
  for (const Ref<SharedValue>& value : shared_) {
    if (value->mutex().lock()) {
      ++locked_;
      continue;
    }
    unlock();
    fail<GraphError>("function ", function,
                     " updates a shared variable that is being updated in another thread, by a "
                     "function whose op waits for one that this thread is running; expected no "
                     "two functions whose ops call each other: remove one of the two calls");
  }
}

UpdateLock::UpdateLock(std::span<const Ref<SharedValue>> shared, std::try_to_lock_t) noexcept
    : shared_(shared) {
  while (locked_ < shared_.size() && shared_[locked_]->mutex().try_lock()) ++locked_;
}

void UpdateLock::unlock() noexcept {
  while (locked_ > 0) shared_[--locked_]->mutex().unlock();
}

}  // namespace spanwise::graph
