// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spanwise/export.hpp"

namespace spanwise {

/// Throws where the program wants the calling thread to end what it is waiting for; Python's
/// KeyboardInterrupt is thrown so. Does nothing in a program that sets no check.
using InterruptCheck = void (*)();

/// How long a wait may go on between two checks.
inline constexpr int interrupt_check_ms = 50;

/// Calls the check. For code that waits for another program, or for a thread that does: before the
/// wait, after each EINTR, and every interrupt_check_ms. Holds no lock that the check could need.
SW_API void check_interrupt();

/// `check` replaces the one before; null removes it. Returns the one before.
SW_API InterruptCheck set_interrupt_check(InterruptCheck check) noexcept;

}  // namespace spanwise
