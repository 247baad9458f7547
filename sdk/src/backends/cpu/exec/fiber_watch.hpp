// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "backends/cpu/exec/stack_switch.hpp"

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

/// Clears AddressSanitizer's marks on address space that is about to be unmapped: frames that
/// longjmp has left keep their marks, which would remain for the next mapping at this address. A
/// no-op without AddressSanitizer.
#if defined(SW_WATCH_ADDRESSES)
void clear_address_marks(std::span<std::byte> region) noexcept;
#else
inline void clear_address_marks(std::span<std::byte>) noexcept {}
#endif

/// Reports stack switches to the sanitizer that the library is built with, if any; otherwise
/// switch_to() is only switch_stack(). Fiber 0 is the worker's own stack.
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

}  // namespace spanwise::cpu_backend
