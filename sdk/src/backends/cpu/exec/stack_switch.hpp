// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace spanwise::cpu_backend {

/// A suspended stack: the address of its saved registers.
using StackPointer = void*;

extern "C" __attribute__((visibility("hidden"))) void sw_switch_stack(StackPointer* from,
                                                                      StackPointer to) noexcept;

/// Suspends the running stack, stores it in `*from`, and resumes `to`. Returns when the stack is
/// resumed. Does not change signal masks and floating-point modes.
inline void switch_stack(StackPointer* from, StackPointer to) noexcept {
  sw_switch_stack(from, to);
}

/// A stack in [low, low + bytes) that calls entry(argument) when it is first switched to; `entry`
/// must not return.
StackPointer make_stack(std::byte* low, std::size_t bytes, void (*entry)(void*), void* argument);

}  // namespace spanwise::cpu_backend
