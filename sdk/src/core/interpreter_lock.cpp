// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/interpreter_lock.hpp"

#include <atomic>

namespace spanwise {
namespace {

constinit std::atomic<const InterpreterLock*> interpreter_lock{nullptr};

}  // namespace

void set_interpreter_lock(const InterpreterLock& lock) noexcept {
  interpreter_lock.store(&lock, std::memory_order_release);
}

InterpreterUnlocked::InterpreterUnlocked() noexcept {
  const InterpreterLock* lock = interpreter_lock.load(std::memory_order_acquire);
  released_ = lock == nullptr ? nullptr : lock->release();
}

InterpreterUnlocked::~InterpreterUnlocked() {
  if (released_ != nullptr) interpreter_lock.load(std::memory_order_acquire)->acquire(released_);
}

}  // namespace spanwise
