// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <tuple>

#include "../indexing.hpp"

namespace spanwise::ops {

/// Which kernels a move needs: they are compiled for the rank, as a rank known to the compiler
/// unrolls to a few instructions.
struct MoveSource {
  int word = 4;     ///< bytes: 1, 2, 4, 8 or 16
  int rank = 1;     ///< axes of the result, 1 at least
  int indices = 1;  ///< index arrays
  friend auto operator<=>(const MoveSource&, const MoveSource&) = default;
};

/// The part that kernels of selections share: Plan (see cuda_plan.hpp), and where an element is.
std::string plan_source(int rank, int indices);

/// CUDA C with the kernels `read_elements`, `write_elements`, `find_last` and `write_last`, each in
/// two forms that count in 32 and in 64 bits. They take a Plan by value (see cuda_move.cpp).
std::string move_source(const MoveSource& wanted);

/// Which kernels an accumulation needs.
struct AccumulateSource {
  DType dtype;
  Accumulation how;
  int rank = 1, indices = 1;
  friend bool operator<(const AccumulateSource& a, const AccumulateSource& b) noexcept {
    const auto key = [](const AccumulateSource& s) {
      return std::tuple(s.dtype.code(), s.dtype.bits(), s.how, s.rank, s.indices);
    };
    return key(a) < key(b);
  }
};

/// CUDA C with the kernels `accumulate32` and `accumulate64`; the array is aligned to its elements.
/// Not for what a GPU cannot change in one piece: complex128 but for sums.
std::string accumulate_source(const AccumulateSource& wanted);

/// CUDA C with `find_outside`, `wrap_indices` and `clip_indices`: int64 index arrays.
std::string indices_source();

/// CUDA C with `count_tiles`, `scan_tiles` and `write_positions` for masks of `rank` axes. A tile
/// has mask_tile bytes and a block of mask_block threads.
std::string mask_source(int rank);
inline constexpr int mask_block = 256;
inline constexpr int mask_tile = 16 * mask_block;
inline constexpr int scan_block = 1024;

}  // namespace spanwise::ops
