// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <utility>

#include "spanwise/fork.hpp"
#include "spanwise/interpreter_lock.hpp"

namespace spanwise {

/// Compiled kernels by what decides their text: finding one again costs less than writing its text.
/// `Map` is a std::map or std::unordered_map. Any thread may use it. Have it live as long as the
/// process, since a GPU may be gone before static objects are destroyed.
template <class Map>
class KernelTable {
 public:
  using Key = typename Map::key_type;
  using Kernels = typename Map::mapped_type;

  /// What make() returned for `key`. make() compiles, so it is called without the mutex and without
  /// the interpreter's lock; two threads may both call it, and one result is kept. The reference is
  /// valid as long as the table.
  template <class Make>
  const Kernels& get(const Key& key, Make&& make) {
    if (const Kernels* known = find(key)) return *known;
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

}  // namespace spanwise
