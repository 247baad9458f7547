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

#include "spanwise/fork.hpp"
#include "spanwise/stream.hpp"

namespace spanwise {
namespace {

struct Held {
  ReleaseFn release = nullptr;
  void* context = nullptr;
  void* data = nullptr;
  std::size_t bytes = 0;
  std::vector<Event> events{};  // for work on the memory that has not completed
  Held* next_kept = nullptr;

  void tell() noexcept {
    StreamUses none;
    release(context, data, bytes, none);
  }
  bool passed() {
    return std::all_of(events.begin(), events.end(), [](const Event& e) { return e.query(); });
  }
};

// Outside of the list, so that an import can check it without creating the list.
constinit std::atomic<bool> anybody_waits{false};

class Waiting {
 public:
  void add(std::unique_ptr<Held> held) {
    const std::lock_guard lock(mutex_);
    held_.push_back(std::move(held));
    anybody_waits.store(true, std::memory_order_release);
  }

  // Calls release functions without the lock: they run foreign code, which may import and release
  // arrays.
  void collect_released() {
    std::vector<std::unique_ptr<Held>> passed;
    {
      const std::lock_guard lock(mutex_);
      const auto first = std::stable_partition(held_.begin(), held_.end(),
                                               [](const auto& held) { return !held->passed(); });
      passed.assign(std::make_move_iterator(first), std::make_move_iterator(held_.end()));
      held_.erase(first, held_.end());
      anybody_waits.store(!held_.empty(), std::memory_order_release);
    }
    for (const auto& held : passed) held->tell();
  }

 private:
  Mutex mutex_;
  std::vector<std::unique_ptr<Held>> held_;
};

// Never destroyed: owners that still wait at process exit are not released, because the driver may
// have shut down by then.
Waiting& waiting() {
  static Waiting* const the_waiting = new Waiting;
  return *the_waiting;
}

// Keeps the owner for ever: a leak is better than two writers of the same memory. A linked list, so
// that keeping cannot fail and leak checkers can follow it.
void keep(std::unique_ptr<Held> held) noexcept {
  static constinit std::atomic<Held*> kept{nullptr};
  held->events.clear();
  held->next_kept = kept.load();
  while (!kept.compare_exchange_weak(held->next_kept, held.get())) {
  }
  held.release();  // NOLINT(bugprone-unused-return-value): the list has it now
}

void note_what_runs(Held& held, const StreamUses& uses) {
  for (const Ref<StreamIdentity>& identity : uses.all()) {
    const Stream used = Stream::of(*identity);
    if (!used.query()) held.events.push_back(used.record());
  }
}

void release_ordered(void* context, void* data, std::size_t bytes, StreamUses& uses) noexcept {
  std::unique_ptr<Held> held(static_cast<Held*>(context));
  held->data = data;
  held->bytes = bytes;
  try {
    note_what_runs(*held, uses);
    collect_released();
    if (held->events.empty()) {
      held->tell();
    } else {
      waiting().add(std::move(held));
    }
  } catch (...) {
    // The device cannot be queried: a lost context, or the end of the process.
    if (held) keep(std::move(held));
  }
}

}  // namespace

ForeignOwner EventGuardedOwner::around(ForeignOwner owner) {
  if (owner.release_ == nullptr) return owner;
  auto held = std::make_unique<Held>();
  held->release = std::exchange(owner.release_, nullptr);
  held->context = std::exchange(owner.context_, nullptr);
  return ForeignOwner(&release_ordered, held.release());
}

void* EventGuardedOwner::context(const Storage& storage, ReleaseFn release) noexcept {
  if (storage.release_fn() != &release_ordered) return nullptr;
  const auto* held = static_cast<const Held*>(storage.context());
  return held->release == release ? held->context : nullptr;
}

void collect_released() noexcept {
  if (!anybody_waits.load(std::memory_order_acquire)) [[likely]]
    return;
  try {
    waiting().collect_released();
  } catch (...) {
    // The device fails: the owners keep waiting.
  }
}

}  // namespace spanwise
