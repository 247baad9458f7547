// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace spanwise::host {

/// A suspended stack: where its registers are saved.
using StackPointer = void*;

extern "C" __attribute__((visibility("hidden"))) void sw_switch_stack(StackPointer* from,
                                                                      StackPointer to) noexcept;

/// Suspends the running stack, noting it in `*from`, and goes on with `to`. Returns when somebody
/// switches back. Signal masks and floating-point modes stay as they are.
inline void switch_stack(StackPointer* from, StackPointer to) noexcept {
  sw_switch_stack(from, to);
}

/// A stack in [low, low + bytes) that calls entry(argument) when it is first switched to; `entry`
/// must not return.
StackPointer make_stack(std::byte* low, std::size_t bytes, void (*entry)(void*), void* argument);

}  // namespace spanwise::host
