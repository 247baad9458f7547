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
void forget_frames(std::span<std::byte> region) noexcept {
  constexpr std::size_t piece = 1 << 20;  // the sanitizer warns about larger ones
  for (std::size_t at = 0; at < region.size(); at += piece)
    __asan_unpoison_memory_region(region.data() + at, std::min(piece, region.size() - at));
}
#endif

FiberWatch::FiberWatch() {
  known_.resize(1);
  known_[0].stack = thread_stack();
#if defined(SW_WATCH_THREADS)
  known_[0].thread = __tsan_get_current_fiber();
#endif
}

FiberWatch::~FiberWatch() { forget_all({}); }

void FiberWatch::add(int fiber, std::span<std::byte> stack) {
  const auto index = static_cast<std::size_t>(fiber);
  if (known_.size() <= index) known_.resize(index + 1);
  known_[index].stack = stack;
#if defined(SW_WATCH_THREADS)
  known_[index].thread = __tsan_create_fiber(0);
#endif
}

void FiberWatch::forget_all(std::span<std::byte> region) {
#if defined(SW_WATCH_THREADS)
  for (std::size_t i = 1; i < known_.size(); ++i)
    if (known_[i].thread != nullptr) __tsan_destroy_fiber(known_[i].thread);
#endif
  known_.resize(1);
#if defined(SW_WATCH_ADDRESSES)
  forget_frames(region);
#else
  (void)region;
#endif
}

void FiberWatch::switch_to(StackPointer* from, StackPointer to, int fiber) {
  const Known& known = known_[static_cast<std::size_t>(fiber)];
#if defined(SW_WATCH_THREADS)
  __tsan_switch_to_fiber(known.thread, 0);
#endif
#if defined(SW_WATCH_ADDRESSES)
  void* fake_stack = nullptr;
  __sanitizer_start_switch_fiber(&fake_stack, known.stack.data(), known.stack.size());
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
