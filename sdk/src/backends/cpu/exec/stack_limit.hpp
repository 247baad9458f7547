// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#if defined(__x86_64__) && defined(__GLIBC__)
#define SW_STACK_LIMIT 1
#endif

namespace spanwise::host {

/// The lowest address that the stack pointer may reach in code compiled with -fsplit-stack: each of
/// its functions compares first, and calls __morestack (spanwise_stack.h) where the rest is too
/// little. The limit is a word of the thread's control block (GCC and Clang: %fs:0x70, which glibc
/// keeps for it); null is no limit. Without such a word all of this does nothing.
inline void* stack_limit() noexcept {
  void* limit = nullptr;
#if defined(SW_STACK_LIMIT)
  asm volatile("movq %%fs:0x70, %0" : "=r"(limit));
#endif
  return limit;
}
inline void set_stack_limit([[maybe_unused]] const void* limit) noexcept {
#if defined(SW_STACK_LIMIT)
  asm volatile("movq %0, %%fs:0x70" ::"r"(limit) : "memory");
#endif
}

/// Puts the thread's limit back at the end of a scope.
class StackLimitGuard {
 public:
  StackLimitGuard() noexcept : before_(stack_limit()) {}
  ~StackLimitGuard() { set_stack_limit(before_); }
  StackLimitGuard(const StackLimitGuard&) = delete;
  StackLimitGuard& operator=(const StackLimitGuard&) = delete;

 private:
  void* before_;
};

/// The calling thread's own stack; empty where the C library does not tell.
std::span<std::byte> thread_stack();

/// What kernels may use of the calling thread's own stack: all but what library functions and an
/// error's message need.
std::span<std::byte> own_stack();

}  // namespace spanwise::host
