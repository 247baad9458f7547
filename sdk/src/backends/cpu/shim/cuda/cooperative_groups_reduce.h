// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reductions over a group (CUDA C++ Programming Guide 13.0, "reduce").

#include "cooperative_groups.h"

namespace cooperative_groups {

#define SW_OPERATION(name, expression)                                      \
  template <class SwT>                                                      \
  struct name {                                                             \
    SwT operator()(const SwT& a, const SwT& b) const { return expression; } \
  };
SW_OPERATION(plus, a + b)
SW_OPERATION(less, b < a ? b : a)
SW_OPERATION(greater, a < b ? b : a)
SW_OPERATION(bit_and, a& b)
SW_OPERATION(bit_or, a | b)
SW_OPERATION(bit_xor, a ^ b)
#undef SW_OPERATION

// Combines neighbours, then pairs of neighbours and so on, in the same order on every lane.
template <class SwGroup, class SwT, class SwOp>
SW_FN auto reduce(const SwGroup& group, SwT value, SwOp op, int line = __builtin_LINE())
    -> decltype(op(value, value)) {
  const unsigned size = (unsigned)group.size(), rank = (unsigned)group.thread_rank();
  for (unsigned step = 1; step < size; step *= 2) {
    const SwT other = group.shfl_down(value, step, line);
    if (rank % (2 * step) == 0 && rank + step < size) value = op(value, other);
  }
  return group.shfl(value, 0, line);
}

}  // namespace cooperative_groups
