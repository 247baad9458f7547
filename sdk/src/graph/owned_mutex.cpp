// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <map>
#include <new>

#include "graph/owned_mutex.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/core/fork.hpp"

namespace spanwise::graph {

/// Which thread waits for which mutex. A thread that begins to wait follows the chain of owners;
/// the one that would close a cycle detects it.
class OwnedMutex::Waits final : ForkParticipant {
 public:
  /// Returns false where the wait would close a cycle.
  bool begin(const OwnedMutex& awaited) {
    const std::lock_guard lock(mutex_);
    const std::thread::id me = std::this_thread::get_id();
    for (const OwnedMutex* mutex = &awaited; mutex != nullptr;) {
      const std::thread::id owner = mutex->owner_.load(std::memory_order_relaxed);
      if (owner == me) return false;
      const auto entry = waiting_for_.find(owner);
      // A thread registered as waiting for a mutex that it owns is about to call end().
      mutex = entry == waiting_for_.end() || entry->second->owner_.load() == owner ? nullptr
                                                                                   : entry->second;
    }
    waiting_for_.emplace(me, &awaited);
    return true;
  }

  void end() noexcept {
    const std::lock_guard lock(mutex_);
    waiting_for_.erase(std::this_thread::get_id());
  }

 private:
  void after_fork_in_child(bool) noexcept override { waiting_for_.clear(); }

  Mutex mutex_;
  std::map<std::thread::id, const OwnedMutex*> waiting_for_;
};

OwnedMutex::Waits& OwnedMutex::waits() {
  static NeverDestroyed<Waits> waits;  // threads may wait until the process exits
  return *waits;
}

bool OwnedMutex::wait(const InterpreterUnlocked&) {
  if (!waits().begin(*this)) return false;
  mutex_.lock();
  own();
  waits().end();
  return true;
}

bool OwnedMutex::try_pause() noexcept { return is_mine() || mutex_.try_lock(); }

void OwnedMutex::resume() noexcept {
  if (!is_mine()) mutex_.unlock();
}

void OwnedMutex::after_fork_in_child(bool was_paused) noexcept {
  if (was_paused) return resume();
  new (&mutex_) std::mutex;
  owner_.store({}, std::memory_order_relaxed);
}

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
