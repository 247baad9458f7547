// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/core/interpreter_lock.hpp"

#include <atomic>

#include "spanwise/core/error.hpp"

namespace spanwise {
namespace {

constinit std::atomic<const InterpreterLock*> interpreter_lock{nullptr};
constinit std::atomic<const ObjectBinding*> registered_binding{nullptr};

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

void set_object_binding(const ObjectBinding& binding) noexcept {
  registered_binding.store(&binding, std::memory_order_release);
}

const ObjectBinding& object_binding() {
  const ObjectBinding* binding = registered_binding.load(std::memory_order_acquire);
  if (binding == nullptr)
    fail<BridgeError>("bridge: the Python package is not loaded; import spanwise first");
  return *binding;
}

}  // namespace spanwise
