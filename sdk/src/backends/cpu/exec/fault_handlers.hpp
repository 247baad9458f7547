// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace spanwise::cpu_backend {

class FaultTrap;

/// Makes FaultTrap's handlers those of the process for the signals of kernels. They pass signals
/// that do not come from a kernel to the handlers that they replace.
void install_handlers();
/// Gives the calling thread a stack for signal handlers, and returns it; null if it has one.
void* install_signal_stack();
/// Frees the result of install_signal_stack(), before its thread ends. Does nothing where other
/// code has replaced that stack, since it may use it again.
void free_signal_stack(void* memory) noexcept;

// Used by the handlers.
/// Null if the calling thread has run no kernel.
FaultTrap* trap_of_this_thread() noexcept;
/// Whether FaultTrap::stop_helpers() has sent the current SIGINT.
bool has_stop_request(FaultTrap& trap) noexcept;

}  // namespace spanwise::cpu_backend
