// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "backends/cpu/copy/block.hpp"
#include "backends/cpu/copy/plan.hpp"

namespace spanwise::host {

/// What is done with each block: one kernel, or two with a buffer of packed words between them.
struct BlockWork {
  BlockKernel first;
  BlockKernel then = nullptr;
  std::int64_t middle_bytes = 0;  ///< of a word in the buffer, which holds whole blocks

  void run(const Block& block) const;
};
/// What the buffer of BlockWork holds.
inline constexpr std::int64_t middle_capacity = 1 << 14;

/// A plan cut into blocks, which the threads share: two axes go to the work, piece by piece, a
/// third may run beside them, and the others are counted through. Axes by their place in the plan,
/// -1 for none; `columns` is the plan's last.
struct Walk {
  int rows = -1, layers = -1;
  std::int64_t rows_at_once = 1, columns_at_once = 1, layers_at_once = 1;
  std::int64_t item_bytes = 1;   ///< of the wider operand; decides whether the threads share
  std::int64_t alone_bytes = 1;  ///< below this one thread is as fast as two
  bool stream = false;

  void run(const CopyPlan& plan, const BlockWork& work) const;
};

}  // namespace spanwise::host
