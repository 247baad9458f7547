// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Barriers in shared memory (CUDA C++ Programming Guide 13.0, "Memory Barrier Primitives
// Interface").

#include "spanwise_phases.h"

typedef sw_phases __mbarrier_t;
typedef unsigned __mbarrier_token_t;

SW_FN unsigned __mbarrier_maximum_count() { return (1u << 20) - 1; }
SW_FN void __mbarrier_init(__mbarrier_t* barrier, unsigned count) { barrier->init(count); }
SW_FN void __mbarrier_inval(__mbarrier_t*) {}
SW_FN __mbarrier_token_t __mbarrier_arrive(__mbarrier_t* barrier) { return barrier->arrive(); }
SW_FN __mbarrier_token_t __mbarrier_arrive_and_drop(__mbarrier_t* barrier) {
  return barrier->arrive_and_drop();
}
// Tests wait, because threads of a block run in turn: a loop of tests would not end.
SW_FN bool __mbarrier_test_wait(__mbarrier_t* barrier, __mbarrier_token_t token,
                                int line = __builtin_LINE()) {
  barrier->wait(token, line);
  return true;
}
SW_FN bool __mbarrier_try_wait(__mbarrier_t* barrier, __mbarrier_token_t token, unsigned = 0,
                               int line = __builtin_LINE()) {
  return __mbarrier_test_wait(barrier, token, line);
}
// The parity of the phase whose end is awaited.
SW_FN bool __mbarrier_test_wait_parity(__mbarrier_t* barrier, bool parity,
                                       int line = __builtin_LINE()) {
  const unsigned phase = sw_phases::load(&barrier->phase);
  if ((phase & 1u) == (parity ? 1u : 0u)) barrier->wait(phase, line);
  return true;
}
SW_FN bool __mbarrier_try_wait_parity(__mbarrier_t* barrier, bool parity, unsigned = 0,
                                      int line = __builtin_LINE()) {
  return __mbarrier_test_wait_parity(barrier, parity, line);
}
