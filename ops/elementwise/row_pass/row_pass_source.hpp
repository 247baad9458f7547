// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "row_pass.hpp"

namespace spanwise::ops {

/// What the kernels of a row pass are compiled for.
struct RowPassShape {
  int width = 1;    ///< elements of a row that are loaded at a time, aligned as a whole
  int packs = 1;    ///< such loads of a thread in a row
  int threads = 0;  ///< of a block, a multiple of 32; threads * packs * width elements cover a row
  int rows = 1;     ///< rows of a block at a time, at most 32
  /// Bit i: input i is passed by value.
  std::uint64_t numbers = 0;

  friend bool operator==(const RowPassShape&, const RowPassShape&) = default;
};

/// Threads of a block of the kernel `finish`, and the columns that lie side by side in it.
inline constexpr int finish_threads = 512, finish_columns = 8;

/// CUDA C with two kernels.
///
/// `pass`: x, its row stride, w, its stride, rows, columns; of each input of the program its
/// address and stride, or the number; the addresses of the program's outputs; the address and row
/// stride of one partial result for each block: the columns, then the sum of g.
///
/// `finish` adds the partial results: their address, row stride and count, the number of columns;
/// alpha and beta; the addend and its stride; the address of the columns, and of the sum; then the
/// inputs of sum_program as those of the program, without strides, and the addresses of its
/// outputs. Parameters that the pass does not have are left out.
std::string row_pass_source(const RowPass& pass, const RowPassShape& shape);

}  // namespace spanwise::ops
