// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/runtime/interrupt.hpp"

#include <atomic>

namespace spanwise {
namespace {

constinit std::atomic<InterruptCheck> current{nullptr};

}  // namespace

void check_interrupt() {
  if (const InterruptCheck check = current.load(std::memory_order_acquire)) check();
}

InterruptCheck set_interrupt_check(InterruptCheck check) noexcept {
  return current.exchange(check, std::memory_order_acq_rel);
}

}  // namespace spanwise
