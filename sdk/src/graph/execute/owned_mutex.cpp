// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/execute/owned_mutex.hpp"

#include <map>
#include <new>

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
  static Waits& waits = *new Waits;  // never destroyed: threads may wait until the process exits
  return waits;
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

}  // namespace spanwise::graph
