// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spanwise/core/export.hpp"

namespace spanwise {

/// Throws where the calling thread should stop waiting (in Python: KeyboardInterrupt). Without a
/// registered check, waits are not interrupted.
using InterruptCheck = void (*)();

/// Interval between two checks during a wait, in milliseconds.
inline constexpr int interrupt_check_ms = 50;

/// Calls the registered check. Code that waits for another process, or for a thread that does,
/// calls this before the wait, after each EINTR and every interrupt_check_ms, without holding a
/// lock that the check may need.
void check_interrupt();

/// Registers `check`; null removes it. Returns the previous check.
SW_API InterruptCheck set_interrupt_check(InterruptCheck check) noexcept;

}  // namespace spanwise
