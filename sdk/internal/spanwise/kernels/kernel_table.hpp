// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <forward_list>
#include <mutex>
#include <utility>

#include "spanwise/core/fork.hpp"
#include "spanwise/core/interpreter_lock.hpp"

namespace spanwise {

/// get() of the tables below. `Table` has find(key), null before insert(key, kernels), which is
/// called with the mutex locked and returns the first kernels inserted for a key.
template <class Table, class Key, class Kernels>
class CompileOnce {
  CompileOnce() = default;
  friend Table;

 public:
  /// Returns the kernels for `key`, made by make() at the first call. make() runs without the mutex
  /// and without the interpreter's lock, since it compiles; two threads may both run it, and one
  /// result is kept. The reference is valid as long as the table.
  template <class Like = Key, class Make>
  const Kernels& get(const Like& key, Make&& make) {
    auto& table = static_cast<Table&>(*this);
    if (const Kernels* cached = table.find(key)) return *cached;
    const InterpreterUnlocked unlocked;
    Kernels compiled = std::forward<Make>(make)();
    const std::lock_guard lock(mutex_);
    return table.insert(key, std::move(compiled));
  }

 protected:
  Mutex mutex_;
};

/// Maps the parameters of a generated kernel source to the compiled kernels, since a lookup is
/// cheaper than generating the source. `Map` is a std::map or std::unordered_map. Thread-safe.
/// Never destroy it: at exit the GPU may be gone before static objects are destroyed.
template <class Map>
class KernelTable
    : public CompileOnce<KernelTable<Map>, typename Map::key_type, typename Map::mapped_type> {
  using Key = typename Map::key_type;
  using Kernels = typename Map::mapped_type;
  friend class CompileOnce<KernelTable, Key, Kernels>;

  const Kernels* find(const Key& key) {
    const std::lock_guard lock(this->mutex_);
    const auto entry = kernels_.find(key);
    return entry == kernels_.end() ? nullptr : &entry->second;
  }
  const Kernels& insert(const Key& key, Kernels compiled) {
    return kernels_.try_emplace(key, std::move(compiled)).first->second;
  }

  Map kernels_;
};

/// A KernelTable for the few variants of one kernel. Keys need only operator==, also with the types
/// that get() and find() are called with, which are converted to Key when an entry is inserted. The
/// entry that was found last is found again without the mutex.
template <class Key, class Kernels>
class KernelList : public CompileOnce<KernelList<Key, Kernels>, Key, Kernels> {
 public:
  KernelList() = default;
  KernelList(const KernelList&) = delete;
  KernelList& operator=(const KernelList&) = delete;

  /// The kernels for `key`, or null before get() made them. Valid as long as this object.
  template <class Like = Key>
  const Kernels* find(const Like& key) {
    const Entry* entry = last_.load(std::memory_order_acquire);
    if (entry == nullptr || !(entry->key == key)) {
      const std::lock_guard lock(this->mutex_);
      entry = find_entry(key);
      if (entry == nullptr) return nullptr;
      last_.store(entry, std::memory_order_release);
    }
    return &entry->kernels;
  }

 private:
  friend class CompileOnce<KernelList, Key, Kernels>;

  struct Entry {
    Key key;
    Kernels kernels;
  };
  template <class Like>
  const Entry* find_entry(const Like& key) const {
    for (const Entry& entry : entries_)
      if (entry.key == key) return &entry;
    return nullptr;
  }
  template <class Like>
  const Kernels& insert(const Like& key, Kernels compiled) {
    if (const Entry* entry = find_entry(key)) return entry->kernels;
    entries_.push_front({Key(key), std::move(compiled)});
    last_.store(&entries_.front(), std::memory_order_release);
    return entries_.front().kernels;
  }

  std::atomic<const Entry*> last_{nullptr};  ///< the entry of the last find() or insert()
  std::forward_list<Entry> entries_;
};

}  // namespace spanwise
