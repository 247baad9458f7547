// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

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

/// Clears AddressSanitizer's marks on address space that is about to be unmapped: frames that were
/// abandoned there left some, which the next mapping at this place would inherit. A no-op without
/// AddressSanitizer.
#if defined(SW_WATCH_ADDRESSES)
void forget_frames(std::span<std::byte> region) noexcept;
#else
inline void forget_frames(std::span<std::byte>) noexcept {}
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
  void add(int fiber, std::span<std::byte> stack);
  /// Removes all fibers other than 0, even suspended ones.
  void forget_all(std::span<std::byte> region);
  void switch_to(StackPointer* from, StackPointer to, int fiber);
  /// Must be the first call on a new stack.
  void entered();

 private:
  struct Known {
    std::span<std::byte> stack{};
    void* thread = nullptr;
  };
  std::vector<Known> known_;
#else
  void add(int, std::span<std::byte>) noexcept {}
  void forget_all(std::span<std::byte>) noexcept {}
  void switch_to(StackPointer* from, StackPointer to, int) noexcept { switch_stack(from, to); }
  void entered() noexcept {}
#endif
};

}  // namespace spanwise::cpu_backend
