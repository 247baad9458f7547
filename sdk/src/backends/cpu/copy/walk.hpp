// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "backends/cpu/copy/block.hpp"
#include "backends/cpu/copy/plan.hpp"

namespace spanwise::cpu_backend {

/// The kernels for each block: one, or two with a buffer of contiguous words between them.
struct BlockWork {
  BlockKernel first;
  BlockKernel then = nullptr;
  std::int64_t buffer_word_bytes = 0;  ///< bytes of a word in the buffer, which holds whole blocks

  void run(const Block& block) const;
};
/// Bytes of the buffer of BlockWork.
inline constexpr std::int64_t buffer_capacity = 1 << 14;

/// Splits a plan into blocks, which several threads execute. A block has `block_rows` by
/// `block_columns` elements of two axes, for `block_layers` indices of an optional third one. Axes
/// are indices into the plan's, -1 for none; the columns are the plan's last axis.
struct Walk {
  int rows = -1, layers = -1;
  std::int64_t block_rows = 1, block_columns = 1, block_layers = 1;
  std::int64_t item_bytes = 1;    ///< of the wider operand; for the choice of the number of threads
  std::int64_t serial_bytes = 1;  ///< below this size one thread is used
  bool stream = false;

  void run(const CopyPlan& plan, const BlockWork& work) const;
};

}  // namespace spanwise::cpu_backend
