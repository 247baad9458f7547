// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#if defined(__x86_64__) && defined(__GLIBC__)
#define SW_STACK_LIMIT 1
#endif

namespace spanwise::cpu_backend {

/// The lowest address that the stack pointer may reach in code compiled with -fsplit-stack: each
/// function compares it on entry and calls __morestack (spanwise_stack.h) if too little stack is
/// left. The limit is a word of the thread control block (GCC and Clang: %fs:0x70, reserved for it
/// by glibc); null means no limit. On other platforms these functions do nothing.
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

/// Restores the thread's limit at the end of a scope.
class StackLimitGuard {
 public:
  StackLimitGuard() noexcept : saved_(stack_limit()) {}
  ~StackLimitGuard() { set_stack_limit(saved_); }
  StackLimitGuard(const StackLimitGuard&) = delete;
  StackLimitGuard& operator=(const StackLimitGuard&) = delete;

 private:
  void* saved_;
};

/// The calling thread's own stack; empty if the C library does not report it.
std::span<std::byte> thread_stack();

/// The part of the calling thread's own stack that kernels may use: all but a reserve for library
/// functions and error messages.
std::span<std::byte> own_stack();

}  // namespace spanwise::cpu_backend
