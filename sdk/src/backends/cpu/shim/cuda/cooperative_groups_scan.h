// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Scans over a group (CUDA C++ Programming Guide 13.0, "inclusive_scan and exclusive_scan").

#include "cooperative_groups_reduce.h"

namespace cooperative_groups {

template <class SwGroup, class SwT, class SwOp>
SW_FN SwT inclusive_scan(const SwGroup& group, SwT value, SwOp op, int line = __builtin_LINE()) {
  for (unsigned step = 1; step < (unsigned)group.size(); step *= 2) {
    const SwT before = group.shfl_up(value, step, line);
    if ((unsigned)group.thread_rank() >= step) value = op(before, value);
  }
  return value;
}
template <class SwGroup, class SwT>
SW_FN SwT inclusive_scan(const SwGroup& group, SwT value, int line = __builtin_LINE()) {
  return inclusive_scan(group, value, plus<SwT>(), line);
}

// The first thread gets SwT().
template <class SwGroup, class SwT, class SwOp>
SW_FN SwT exclusive_scan(const SwGroup& group, SwT value, SwOp op, int line = __builtin_LINE()) {
  const SwT before = group.shfl_up(inclusive_scan(group, value, op, line), 1, line);
  return group.thread_rank() == 0 ? SwT() : before;
}
template <class SwGroup, class SwT>
SW_FN SwT exclusive_scan(const SwGroup& group, SwT value, int line = __builtin_LINE()) {
  return exclusive_scan(group, value, plus<SwT>(), line);
}

}  // namespace cooperative_groups
