// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/exec/fiber_watch.hpp"

#if defined(SW_WATCH_ADDRESSES) || defined(SW_WATCH_THREADS)

#include <algorithm>

#include "backends/cpu/exec/stack_limit.hpp"

#if defined(SW_WATCH_ADDRESSES)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(SW_WATCH_THREADS)
#include <sanitizer/tsan_interface.h>
#endif

namespace spanwise::cpu_backend {

#if defined(SW_WATCH_ADDRESSES)
void clear_address_marks(std::span<std::byte> region) noexcept {
  constexpr std::size_t piece = 1 << 20;  // the sanitizer warns about larger ones
  for (std::size_t offset = 0; offset < region.size(); offset += piece)
    __asan_unpoison_memory_region(region.data() + offset, std::min(piece, region.size() - offset));
}
#endif

FiberWatch::FiberWatch() {
  fibers_.resize(1);
  fibers_[0].stack = thread_stack();
#if defined(SW_WATCH_THREADS)
  fibers_[0].tsan_fiber = __tsan_get_current_fiber();
#endif
}

FiberWatch::~FiberWatch() { remove_all({}); }

void FiberWatch::add(int fiber, std::span<std::byte> stack) {
  const auto index = static_cast<std::size_t>(fiber);
  if (fibers_.size() <= index) fibers_.resize(index + 1);
  fibers_[index].stack = stack;
#if defined(SW_WATCH_THREADS)
  fibers_[index].tsan_fiber = __tsan_create_fiber(0);
#endif
}

void FiberWatch::remove_all(std::span<std::byte> region) {
#if defined(SW_WATCH_THREADS)
  for (std::size_t i = 1; i < fibers_.size(); ++i)
    if (fibers_[i].tsan_fiber != nullptr) __tsan_destroy_fiber(fibers_[i].tsan_fiber);
#endif
  fibers_.resize(1);
#if defined(SW_WATCH_ADDRESSES)
  clear_address_marks(region);
#else
  (void)region;
#endif
}

void FiberWatch::switch_to(StackPointer* from, StackPointer to, int fiber) {
  const Fiber& target = fibers_[static_cast<std::size_t>(fiber)];
#if defined(SW_WATCH_THREADS)
  __tsan_switch_to_fiber(target.tsan_fiber, 0);
#endif
#if defined(SW_WATCH_ADDRESSES)
  void* fake_stack = nullptr;
  __sanitizer_start_switch_fiber(&fake_stack, target.stack.data(), target.stack.size());
  switch_stack(from, to);
  __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#else
  switch_stack(from, to);
#endif
}

void FiberWatch::entered() {
#if defined(SW_WATCH_ADDRESSES)
  __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
#endif
}

}  // namespace spanwise::cpu_backend

#endif
