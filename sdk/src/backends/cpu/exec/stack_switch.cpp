// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/exec/stack_switch.hpp"

#include <cstdint>

#if !defined(__x86_64__) && !defined(__aarch64__)
#include <ucontext.h>

#include <new>
#endif

// A switch saves only the callee-saved registers. A system call for the signal mask, as in
// swapcontext, would take thirty times as long as the rest.

#if defined(__x86_64__)

// System V AMD64 ABI 1.0, table 3.4: rbx, rbp, r12-r15 and rsp are preserved.
asm(R"(
.text
.globl sw_switch_stack
.hidden sw_switch_stack
.type sw_switch_stack, @function
.balign 16
sw_switch_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size sw_switch_stack, .-sw_switch_stack
.globl sw_enter_stack
.hidden sw_enter_stack
.type sw_enter_stack, @function
sw_enter_stack:
  movq %r12, %rdi
  callq *%r13
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

#endif

namespace spanwise::cpu_backend {

#if defined(__x86_64__) || defined(__aarch64__)

extern "C" void sw_enter_stack() noexcept;

StackPointer make_stack(std::byte* low, std::size_t bytes, void (*entry)(void*), void* argument) {
  const auto top = reinterpret_cast<std::uintptr_t>(low + bytes) & ~std::uintptr_t{15};
  auto* words = reinterpret_cast<void**>(top);
#if defined(__x86_64__)
  // As sw_switch_stack leaves it: r15, r14, r13, r12, rbx, rbp, return address. The call in
  // sw_enter_stack then finds rsp on a multiple of 16, at the top.
  words -= 7;
  for (int i = 0; i < 7; ++i) words[i] = nullptr;
  words[2] = reinterpret_cast<void*>(entry);
  words[3] = argument;
  words[6] = reinterpret_cast<void*>(&sw_enter_stack);
#else
  words -= 20;
  for (int i = 0; i < 20; ++i) words[i] = nullptr;
  words[0] = argument;
  words[1] = reinterpret_cast<void*>(entry);
  words[11] = reinterpret_cast<void*>(&sw_enter_stack);
#endif
  return words;
}

#else

// Other platforms use POSIX contexts, which make two system calls per switch.
extern "C" void sw_switch_stack(StackPointer* from, StackPointer to) noexcept {
  ucontext_t self;
  *from = &self;
  swapcontext(&self, static_cast<ucontext_t*>(to));
}

namespace {
struct Entry {
  ucontext_t context;
  void (*function)(void*);
  void* argument;
};
void enter(unsigned low, unsigned high) {
  const auto address = (static_cast<std::uint64_t>(high) << 32) | low;
  auto* entry = reinterpret_cast<Entry*>(static_cast<std::uintptr_t>(address));
  entry->function(entry->argument);
}
}  // namespace

StackPointer make_stack(std::byte* low, std::size_t bytes, void (*function)(void*),
                        void* argument) {
  const auto top =
      reinterpret_cast<std::uintptr_t>(low + bytes - sizeof(Entry)) & ~std::uintptr_t{63};
  auto* entry = new (reinterpret_cast<void*>(top)) Entry{{}, function, argument};
  getcontext(&entry->context);
  entry->context.uc_stack.ss_sp = low;
  entry->context.uc_stack.ss_size = top - reinterpret_cast<std::uintptr_t>(low);
  entry->context.uc_link = nullptr;
  const auto address = static_cast<std::uint64_t>(top);
  makecontext(&entry->context, reinterpret_cast<void (*)()>(enter), 2,
              static_cast<unsigned>(address), static_cast<unsigned>(address >> 32));
  return &entry->context;
}

#endif

}  // namespace spanwise::cpu_backend
