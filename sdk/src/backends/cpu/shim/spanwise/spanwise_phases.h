// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Barriers in memory, which count arrivals in phases: those of cuda::barrier and of
// cuda_awbarrier_primitives.h. The threads of a block run in one host thread, in turn.

#include "spanwise_barriers.h"

struct sw_phases {
  unsigned expected, pending, phase;

  void init(unsigned count) {
    store(&expected, count);
    store(&pending, count);
    store(&phase, 0);
  }
  // Returns the phase that the arrival counts for.
  unsigned arrive(unsigned count = 1) {
    const unsigned now = load(&phase), left = load(&pending);
    if (count > left) sw_fail("more threads arrive at a barrier than it expects", nullptr, 0);
    store(&pending, left == count ? load(&expected) : left - count);
    if (left == count) store(&phase, now + 1);
    return now;
  }
  unsigned arrive_and_drop() {
    store(&expected, load(&expected) - 1);
    return arrive();
  }
  bool is_past(unsigned which) const { return load(&phase) != which; }
  void wait(unsigned which, int line) const {
    if (is_past(which))
      pass(line);
    else
      sw_watch(&phase, which, line);
  }
  // Orders accesses behind a phase that has ended, in checked kernels.
  void pass([[maybe_unused]] int line) const {
#ifdef SW_KERNEL_CHECK
    sw_watch(&phase, ~0u, line);
#endif
  }
  static unsigned load(const unsigned* word) { return __atomic_load_n(word, __ATOMIC_RELAXED); }
  static void store(unsigned* word, unsigned value) {
    __atomic_store_n(word, value, __ATOMIC_RELAXED);
  }
};
