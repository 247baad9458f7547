// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/exec/stack_switch.hpp"

#include <cstdint>

// A switch does not change the signal mask: the system call for it, as in swapcontext, would take
// thirty times as long as the other instructions.

#if defined(__x86_64__)

asm(R"(
.text
.globl sw_enter_stack
.hidden sw_enter_stack
.type sw_enter_stack, @function
sw_enter_stack:
  popq %rdi
  popq %rax
  callq *%rax
  ud2
.size sw_enter_stack, .-sw_enter_stack
)");

#elif defined(__aarch64__)

// AAPCS64: x19-x30, sp and the low halves of v8-v15 are preserved.
asm(R"(
.text
.globl sw_switch_stack
.hidden sw_switch_stack
.type sw_switch_stack, %function
.balign 16
sw_switch_stack:
  sub sp, sp, #160
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x2, sp
  str x2, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #0]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
.size sw_switch_stack, .-sw_switch_stack
.globl sw_enter_stack
.hidden sw_enter_stack
.type sw_enter_stack, %function
sw_enter_stack:
  mov x0, x19
  blr x20
  brk #1
.size sw_enter_stack, .-sw_enter_stack
)");

#else
#error "expected x86-64 or aarch64: add the switch of stacks for this processor here"
#endif

namespace spanwise::cpu_backend {

extern "C" void sw_enter_stack() noexcept;

StackPointer make_stack(std::byte* low, std::size_t bytes, void (*entry)(void*), void* argument) {
  const auto top = reinterpret_cast<std::uintptr_t>(low + bytes) & ~std::uintptr_t{15};
  auto* words = reinterpret_cast<void**>(top);
#if defined(__x86_64__)
  // The words that switch_stack() pops, rbp and the address to jump to, then those that
  // sw_enter_stack pops. When it calls the entry, rsp is at the top, a multiple of 16.
  words -= 4;
  words[0] = nullptr;
  words[1] = reinterpret_cast<void*>(&sw_enter_stack);
  words[2] = argument;
  words[3] = reinterpret_cast<void*>(entry);
#else
  words -= 20;
  for (int i = 0; i < 20; ++i) words[i] = nullptr;
  words[0] = argument;
  words[1] = reinterpret_cast<void*>(entry);
  words[11] = reinterpret_cast<void*>(&sw_enter_stack);
#endif
  return words;
}

}  // namespace spanwise::cpu_backend
