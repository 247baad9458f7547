// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "event_guarded_owner.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "spanwise/core/fork.hpp"
#include "spanwise/runtime/stream.hpp"

namespace spanwise {
namespace {

struct GuardedOwner {
  ReleaseFn release = nullptr;
  void* context = nullptr;
  void* data = nullptr;
  std::size_t bytes = 0;
  std::vector<Event> events{};  // for work on the memory that has not completed
  GuardedOwner* next_leaked = nullptr;

  void call_release() noexcept {
    StreamUses none;
    release(context, data, bytes, none);
  }
  bool is_work_complete() {
    return std::all_of(events.begin(), events.end(), [](const Event& e) { return e.query(); });
  }
};

// Outside of the list, so that an import can check it without creating the list.
constinit std::atomic<bool> has_waiting_owners{false};

class WaitingOwners {
 public:
  void add(std::unique_ptr<GuardedOwner> owner) {
    const std::lock_guard lock(mutex_);
    owners_.push_back(std::move(owner));
    has_waiting_owners.store(true, std::memory_order_release);
  }

  // Calls release functions without the lock: they run foreign code, which may import and release
  // arrays.
  void collect_released() {
    std::vector<std::unique_ptr<GuardedOwner>> completed;
    {
      const std::lock_guard lock(mutex_);
      const auto first =
          std::stable_partition(owners_.begin(), owners_.end(),
                                [](const auto& owner) { return !owner->is_work_complete(); });
      completed.assign(std::make_move_iterator(first), std::make_move_iterator(owners_.end()));
      owners_.erase(first, owners_.end());
      has_waiting_owners.store(!owners_.empty(), std::memory_order_release);
    }
    for (const auto& owner : completed) owner->call_release();
  }

 private:
  Mutex mutex_;
  std::vector<std::unique_ptr<GuardedOwner>> owners_;
};

// Never destroyed: owners that still wait at process exit are not released, because the driver may
// have shut down by then.
WaitingOwners& waiting_owners() {
  static WaitingOwners* const the_owners = new WaitingOwners;
  return *the_owners;
}

// Keeps the owner for ever: a leak is better than two writers of the same memory. A linked list, so
// that leaking cannot fail and leak checkers can follow it.
void leak(std::unique_ptr<GuardedOwner> owner) noexcept {
  static constinit std::atomic<GuardedOwner*> leaked{nullptr};
  owner->events.clear();
  owner->next_leaked = leaked.load();
  while (!leaked.compare_exchange_weak(owner->next_leaked, owner.get())) {
  }
  owner.release();  // NOLINT(bugprone-unused-return-value): the list owns it
}

void record_pending_work(GuardedOwner& owner, const StreamUses& uses) {
  for (const Ref<StreamIdentity>& identity : uses.all()) {
    const Stream used = Stream::of(*identity);
    if (!used.query()) owner.events.push_back(used.record());
  }
}

void release_ordered(void* context, void* data, std::size_t bytes, StreamUses& uses) noexcept {
  std::unique_ptr<GuardedOwner> owner(static_cast<GuardedOwner*>(context));
  owner->data = data;
  owner->bytes = bytes;
  try {
    record_pending_work(*owner, uses);
    collect_released();
    if (owner->events.empty()) {
      owner->call_release();
    } else {
      waiting_owners().add(std::move(owner));
    }
  } catch (...) {
    // The device cannot be queried: a lost context, or the end of the process.
    if (owner) leak(std::move(owner));
  }
}

}  // namespace

ForeignOwner EventGuardedOwner::around(ForeignOwner owner) {
  if (owner.release_ == nullptr) return owner;
  auto guarded = std::make_unique<GuardedOwner>();
  guarded->release = std::exchange(owner.release_, nullptr);
  guarded->context = std::exchange(owner.context_, nullptr);
  return ForeignOwner(&release_ordered, guarded.release());
}

void* EventGuardedOwner::context(const Storage& storage, ReleaseFn release) noexcept {
  if (storage.release_fn() != &release_ordered) return nullptr;
  const auto* owner = static_cast<const GuardedOwner*>(storage.context());
  return owner->release == release ? owner->context : nullptr;
}

void collect_released() noexcept {
  if (!has_waiting_owners.load(std::memory_order_acquire)) [[likely]]
    return;
  try {
    waiting_owners().collect_released();
  } catch (...) {
    // The device fails: the owners keep waiting.
  }
}

}  // namespace spanwise
