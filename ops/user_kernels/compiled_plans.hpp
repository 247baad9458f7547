// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <list>
#include <mutex>
#include <utility>

#include "spanwise/core/fork.hpp"
#include "spanwise/core/interpreter_lock.hpp"

namespace spanwise::ops::user_kernels {

/// The compiled variants of one kernel, most recently used first. Thread-safe.
template <class Plan>
class CompiledPlans {
 public:
  /// The plan that `matches` accepts, else the result of make(), which compiles and is called
  /// without the mutex and the GIL. If two threads call it, one result is kept. The reference is
  /// valid as long as this object.
  template <class Matches, class Make>
  const Plan& get(Matches&& matches, Make&& make) {
    if (const Plan* cached = find(matches)) return *cached;
    const InterpreterUnlocked unlocked;
    Plan result = std::forward<Make>(make)();
    const std::lock_guard lock(mutex_);
    if (const Plan* cached = to_front(matches)) return *cached;
    plans_.push_front(std::move(result));
    return plans_.front();
  }

 private:
  template <class Matches>
  const Plan* find(const Matches& matches) {
    const std::lock_guard lock(mutex_);
    return to_front(matches);
  }

  template <class Matches>
  const Plan* to_front(const Matches& matches) {
    const auto found = std::find_if(plans_.begin(), plans_.end(), matches);
    if (found == plans_.end()) return nullptr;
    if (found != plans_.begin()) plans_.splice(plans_.begin(), plans_, found);
    return &*found;
  }

  Mutex mutex_;
  std::list<Plan> plans_;
};

}  // namespace spanwise::ops::user_kernels
