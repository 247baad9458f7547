// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace spanwise::cpu_backend {

/// A suspended stack: the address of its saved registers.
using StackPointer = void*;

/// Suspends the running stack, stores it in `*from`, and resumes `to`. Returns when the stack is
/// resumed. Does not change the signal mask or the floating-point mode.
#if defined(__x86_64__)
// Saves rbp and the address at which the stack resumes, below the red zone; the other registers are
// clobbers, so the compiler saves those in use. It is inline and jumps instead of returning,
// because the processor predicts the target of a `ret` from the calls on the stack that was left:
// each `ret` would be mispredicted.
inline __attribute__((always_inline)) void switch_stack(StackPointer* from,
                                                        StackPointer to) noexcept {
  asm volatile(
      "leaq -128(%%rsp), %%rsp\n\t"
      "leaq 1f(%%rip), %%rax\n\t"
      "pushq %%rax\n\t"
      "pushq %%rbp\n\t"
      "movq %%rsp, (%0)\n\t"
      "movq %1, %%rsp\n\t"
      "popq %%rbp\n\t"
      "popq %%rax\n\t"
      "jmpq *%%rax\n"
      "1:\n\t"
      "leaq 128(%%rsp), %%rsp"
      : "+D"(from), "+S"(to)
      :
      : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0",
        "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
        "xmm12", "xmm13", "xmm14", "xmm15", "cc", "memory");
}
#else
extern "C" __attribute__((visibility("hidden"))) void sw_switch_stack(StackPointer* from,
                                                                      StackPointer to) noexcept;
inline void switch_stack(StackPointer* from, StackPointer to) noexcept {
  sw_switch_stack(from, to);
}
#endif

/// A stack in [low, low + bytes) that calls entry(argument) when it is first switched to; `entry`
/// must not return.
StackPointer make_stack(std::byte* low, std::size_t bytes, void (*entry)(void*), void* argument);

}  // namespace spanwise::cpu_backend
