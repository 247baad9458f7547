// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Copies by the threads of a group (CUDA C++ Programming Guide 13.0, "memcpy_async"). Each thread
// copies its part when it calls memcpy_async; wait() is a barrier of the group.

#include "cooperative_groups.h"

namespace cooperative_groups {

// `count` elements at `source`, of which the destination takes at most `capacity`.
template <class SwGroup, class SwT, class SwCapacity, class SwU, class SwCount>
SW_FN void memcpy_async(const SwGroup& group, SwT* target, const SwCapacity& capacity,
                        const SwU* source, const SwCount& count) {
  static_assert(sizeof(SwT) == sizeof(SwU), "memcpy_async: elements of one size");
  const unsigned long long n = (unsigned long long)(capacity < count ? capacity : count);
  for (unsigned long long i = group.thread_rank(); i < n; i += group.size()) target[i] = source[i];
}
// `bytes` bytes; a number, or cuda::aligned_size_t.
template <class SwGroup, class SwT, class SwU, class SwBytes>
SW_FN void memcpy_async(const SwGroup& group, SwT* target, const SwU* source,
                        const SwBytes& bytes) {
  static_assert(sizeof(SwT) == sizeof(SwU), "memcpy_async: elements of one size");
  const unsigned long long n = (unsigned long long)bytes / sizeof(SwT);
  for (unsigned long long i = group.thread_rank(); i < n; i += group.size()) target[i] = source[i];
}
template <class SwGroup>
__attribute__((always_inline)) inline void wait(const SwGroup& group, int line = __builtin_LINE()) {
  group.sync(line);
}
template <unsigned SwStages, class SwGroup>
__attribute__((always_inline)) inline void wait_prior(const SwGroup& group,
                                                      int line = __builtin_LINE()) {
  group.sync(line);
}

}  // namespace cooperative_groups
