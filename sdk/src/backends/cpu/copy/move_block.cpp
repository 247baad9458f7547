// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "backends/cpu/copy/block.hpp"
#include "spanwise/error.hpp"

namespace spanwise::host {
namespace {

template <int N, std::int64_t TargetStep>
void move_row(std::byte* target, std::int64_t target_step, const std::byte* source,
              std::int64_t source_step, std::int64_t columns) {
  if (TargetStep != 0) target_step = TargetStep;  // a constant lets the compiler combine stores
  if (source_step == 0) {
    const auto word = load_unaligned<Word<N>>(source);
    for (std::int64_t i = 0; i < columns; ++i) store_unaligned(target + i * target_step, word);
    return;
  }
  for (std::int64_t i = 0; i < columns; ++i)
    store_unaligned(target + i * target_step, load_unaligned<Word<N>>(source + i * source_step));
}

template <int N>
void move_block(const Block& b) {
  for (std::int64_t row = 0; row < b.rows; ++row) {
    std::byte* target = b.target + row * b.target_row_step;
    const std::byte* source = b.source + row * b.source_row_step;
    if (b.target_step == N)
      move_row<N, N>(target, N, source, b.source_step, b.columns);
    else
      move_row<N, 0>(target, b.target_step, source, b.source_step, b.columns);
  }
}

// The tile passes through a buffer in L1, so that each line of either side is used whole while it
// is there; strides of a power of two would otherwise throw lines out before their next use.
template <int N>
void transpose_tile(const Block& b, std::int64_t row, std::int64_t column, std::int64_t rows,
                    std::int64_t columns) {
  constexpr int side = N >= 8 ? 16 : 32;
  Word<N> tile[side][side];
  const std::byte* source = b.source + row * N + column * b.source_step;
  for (std::int64_t i = 0; i < columns; ++i)
    std::memcpy(tile[i], source + i * b.source_step, static_cast<std::size_t>(rows) * N);
  for (std::int64_t j = 0; j < rows; ++j) {
    std::byte* target = b.target + (row + j) * b.target_row_step + column * N;
    for (std::int64_t i = 0; i < columns; ++i) store_unaligned(target + i * N, tile[i][j]);
  }
}

template <int N>
void transpose_block(const Block& b) {
  constexpr std::int64_t side = N >= 8 ? 16 : 32;
  for (std::int64_t row = 0; row < b.rows; row += side) {
    for (std::int64_t column = 0; column < b.columns; column += side)
      transpose_tile<N>(b, row, column, std::min(side, b.rows - row),
                        std::min(side, b.columns - column));
  }
}

template <template <int> class Kernel>
BlockKernel by_size(int bytes) {
  switch (bytes) {
    case 1:
      return Kernel<1>::run;
    case 2:
      return Kernel<2>::run;
    case 4:
      return Kernel<4>::run;
    case 8:
      return Kernel<8>::run;
    case 16:
      return Kernel<16>::run;
    default:
      fail<DTypeError>("cpu copy: elements of ", bytes, " bytes; expected 1, 2, 4, 8 or 16");
  }
}

template <int N>
struct Move {
  static void run(const Block& block) { move_block<N>(block); }
};
template <int N>
struct Transpose {
  static void run(const Block& block) { transpose_block<N>(block); }
};

}  // namespace

BlockKernel move_kernel(int bytes) { return by_size<Move>(bytes); }

BlockKernel transpose_kernel(int bytes) { return by_size<Transpose>(bytes); }

void copy_rows(const Block& b) {
  for (std::int64_t row = 0; row < b.rows; ++row)
    std::memcpy(b.target + row * b.target_row_step, b.source + row * b.source_row_step,
                static_cast<std::size_t>(b.columns));
}

}  // namespace spanwise::host
