// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <span>
#include <vector>

// Code compiled with -fsplit-stack reads the limit of the stack from the thread control block.
#if defined(__x86_64__) && defined(__GLIBC__)
#define SW_STACK_LIMIT 1
#endif
// The sanitizers that each switch of stacks is reported to.
#if defined(__SANITIZE_ADDRESS__)
#define SW_WATCH_ADDRESSES 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SW_WATCH_ADDRESSES 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define SW_WATCH_THREADS 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SW_WATCH_THREADS 1
#endif
#endif

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

/// The lowest address that the stack pointer may reach in code compiled with -fsplit-stack: each
/// function compares it on entry and calls __morestack (spanwise_cpu.h) if too little stack is
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

/// A thread's stack for kernels, between inaccessible pages: a kernel that writes outside of its
/// local arrays faults before it reaches the frames of the library and of its callers. In builds
/// with a sanitizer it is own_stack().
class KernelStack {
 public:
  /// The calling thread's.
  static KernelStack& current();
  KernelStack(const KernelStack&) = delete;
  KernelStack& operator=(const KernelStack&) = delete;
  ~KernelStack();

  /// As long as own_stack(). Throws OutOfMemoryError.
  std::span<std::byte> memory();
  /// During a call: the unused part of the caller's own stack.
  std::span<std::byte> unused_of_caller() const;
  /// Calls function(argument) on this stack. Returns the exception that it throws, if any. The call
  /// may be left by longjmp.
  std::exception_ptr call(void (*function)(const void*), const void* argument);

 private:
  KernelStack() = default;
  static void enter(void* stack) noexcept;

  void* base_ = nullptr;  // of the mapping
  std::span<std::byte> memory_;
  StackPointer caller_ = nullptr;
  void (*function_)(const void*) = nullptr;
  const void* argument_ = nullptr;
  std::exception_ptr thrown_;
};

/// Clears AddressSanitizer's marks on address space that is about to be unmapped: frames that
/// longjmp has left keep their marks, which would remain for the next mapping at this address. A
/// no-op without AddressSanitizer.
#if defined(SW_WATCH_ADDRESSES)
void clear_address_marks(std::span<std::byte> region) noexcept;
#else
inline void clear_address_marks(std::span<std::byte>) noexcept {}
#endif

/// Reports stack switches to the sanitizer that the library is built with, if any; otherwise
/// switch_to() is only switch_stack(). Fiber 0 is the worker's KernelStack.
class FiberWatch {
 public:
#if defined(SW_WATCH_ADDRESSES) || defined(SW_WATCH_THREADS)
  FiberWatch();
  ~FiberWatch();
  FiberWatch(const FiberWatch&) = delete;
  FiberWatch& operator=(const FiberWatch&) = delete;
  /// Registers fiber number `fiber`, which will run on `stack`.
  void add(int fiber, std::span<std::byte> stack);
  /// Removes all fibers other than 0, even suspended ones, and clears the marks on `region`, which
  /// contains their stacks.
  void remove_all(std::span<std::byte> region);
  /// switch_stack(from, to), where `to` is the stack of `fiber`.
  void switch_to(StackPointer* from, StackPointer to, int fiber);
  /// Completes the first switch to a fiber. Must be the first call on the fiber's stack.
  void entered();

 private:
  struct Fiber {
    std::span<std::byte> stack{};
    void* tsan_fiber = nullptr;
  };
  std::vector<Fiber> fibers_;
#else
  void add(int, std::span<std::byte>) noexcept {}
  void remove_all(std::span<std::byte>) noexcept {}
  void switch_to(StackPointer* from, StackPointer to, int) noexcept { switch_stack(from, to); }
  void entered() noexcept {}
#endif
};

/// The stacks of one worker's fibers, side by side in one mapping.
///
/// Cache and TLB misses take much of the time of a switch, so stacks are close together, share huge
/// pages, and are not a power of two apart, or their tops would map to the same few cache sets.
/// A pattern at the low end of each stack shows an overflow. If the depth is unknown (recursion),
/// stacks are larger and further apart, with a red zone below each, and the kernel's functions
/// compare the stack pointer with low() on entry (set_stack_limit()). A guard page below each stack
/// would cost two mappings per stack; a process can have 65,530.
class FiberStacks {
 public:
  static constexpr int max_stacks = 1024;

  FiberStacks() = default;
  FiberStacks(const FiberStacks&) = delete;
  FiberStacks& operator=(const FiberStacks&) = delete;
  ~FiberStacks();

  /// Makes each stack at least `bytes` long. Returns whether the stacks were replaced, which
  /// discards their contents. Throws OutOfMemoryError.
  bool reserve(std::size_t bytes);
  /// Usable bytes of stack `index`, with a fresh pattern at its low end.
  std::span<std::byte> prepare(int index);
  /// The lowest usable address of stack `index`.
  std::byte* low(int index) const noexcept;
  /// Whether `address` is in stack `index`.
  bool contains(int index, const void* address) const noexcept {
    const auto* first = static_cast<const void*>(stack(index));
    const auto* end = static_cast<const void*>(stack(index) + spacing_);
    return std::less_equal<>()(first, address) && std::less<>()(address, end);
  }
  /// Whether the pattern of stack `index` is unchanged.
  bool is_intact(int index) const;
  /// Whether the stacks are for unknown depths, so that is_intact() should be checked whenever a
  /// thread waits.
  bool is_guarded() const noexcept;
  /// Usable bytes of each stack.
  std::size_t stack_bytes() const noexcept;
  /// The mapping of all stacks, for sanitizers.
  std::span<std::byte> region() const noexcept { return {base_, bytes_}; }

 private:
  void unmap() noexcept;
  std::byte* stack(int index) const noexcept;
  std::size_t red_zone() const noexcept;
  std::span<std::byte> pattern_of(int index) const noexcept;

  std::byte* base_ = nullptr;
  std::size_t bytes_ = 0;    // of the mapping
  std::size_t spacing_ = 0;  // from one stack to the next
};

}  // namespace spanwise::cpu_backend
