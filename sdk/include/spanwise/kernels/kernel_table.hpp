// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

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

}  // namespace spanwise
