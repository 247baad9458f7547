// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <mutex>
#include <utility>

#include "spanwise/fork.hpp"

namespace spanwise {

/// A value that the first caller makes; fork-safe replacement of static variables with a slow
/// initialiser: a child forked while another thread runs such an initialiser would block forever on
/// the variable's guard. Use as `static auto& value = *new LazyValue<T>; return value.get([] { ...
/// });`. Never destroyed.
template <class T>
class LazyValue {
 public:
  template <class Make>
  const T& get(Make&& make) {
    if (const T* known = value_.load(std::memory_order_acquire)) [[likely]]
      return *known;
    const std::lock_guard lock(mutex_);
    const T* value = value_.load(std::memory_order_relaxed);
    if (value == nullptr) {
      value = new T(std::forward<Make>(make)());
      value_.store(value, std::memory_order_release);
    }
    return *value;
  }

 private:
  std::atomic<const T*> value_{nullptr};
  Mutex mutex_;
};

}  // namespace spanwise
