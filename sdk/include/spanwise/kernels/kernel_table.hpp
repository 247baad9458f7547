// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <forward_list>
#include <mutex>
#include <utility>

#include "spanwise/core/fork.hpp"
#include "spanwise/core/interpreter_lock.hpp"

namespace spanwise {

/// Maps the parameters of a generated kernel source to the compiled kernels, since a lookup is
/// cheaper than generating the source. `Map` is a std::map or std::unordered_map. Thread-safe.
/// Never destroy it: at exit the GPU may be gone before static objects are destroyed.
template <class Map>
class KernelTable {
 public:
  using Key = typename Map::key_type;
  using Kernels = typename Map::mapped_type;

  /// Returns the value for `key`, made by make() at the first call. make() runs without the mutex
  /// and without the interpreter's lock, since it compiles; two threads may both run it, and one
  /// result is kept. The reference is valid as long as the table.
  template <class Make>
  const Kernels& get(const Key& key, Make&& make) {
    if (const Kernels* cached = find(key)) return *cached;
    const InterpreterUnlocked unlocked;
    Kernels made = std::forward<Make>(make)();
    const std::lock_guard lock(mutex_);
    return kernels_.try_emplace(key, std::move(made)).first->second;
  }

 private:
  const Kernels* find(const Key& key) {
    const std::lock_guard lock(mutex_);
    const auto found = kernels_.find(key);
    return found == kernels_.end() ? nullptr : &found->second;
  }

  Mutex mutex_;
  Map kernels_;
};

/// The same for the few variants of one kernel: keys are only compared, with what can be converted
/// to one, and the variant that was found last is found again without the mutex.
template <class Key, class Kernels>
class KernelList {
 public:
  KernelList() = default;
  KernelList(const KernelList&) = delete;
  KernelList& operator=(const KernelList&) = delete;

  /// The value for `key`, or null before get() made it. Valid as long as this object.
  template <class Like = Key>
  const Kernels* find(const Like& key) {
    const Entry* known = last_.load(std::memory_order_acquire);
    if (known == nullptr || !(known->key == key)) {
      const std::lock_guard lock(mutex_);
      known = find_entry(key);
      if (known == nullptr) return nullptr;
      last_.store(known, std::memory_order_release);
    }
    return &known->kernels;
  }
  /// As KernelTable::get().
  template <class Like = Key, class Make>
  const Kernels& get(const Like& key, Make&& make) {
    if (const Kernels* known = find(key)) return *known;
    const InterpreterUnlocked unlocked;
    Kernels made = std::forward<Make>(make)();
    const std::lock_guard lock(mutex_);
    if (const Entry* known = find_entry(key)) return known->kernels;
    entries_.push_front({Key(key), std::move(made)});
    last_.store(&entries_.front(), std::memory_order_release);
    return entries_.front().kernels;
  }

 private:
  struct Entry {
    Key key;
    Kernels kernels;
  };
  template <class Like>
  const Entry* find_entry(const Like& key) const {
    const auto found =
        std::ranges::find_if(entries_, [&](const Entry& entry) { return entry.key == key; });
    return found == entries_.end() ? nullptr : &*found;
  }

  std::atomic<const Entry*> last_{nullptr};  ///< that find() returned last
  Mutex mutex_;
  std::forward_list<Entry> entries_;
};

}  // namespace spanwise
