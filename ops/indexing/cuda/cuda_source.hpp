// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <tuple>

#include "../indexing.hpp"

namespace spanwise::ops {

/// The kernels of a move. They are compiled for one rank, so that loops over axes are unrolled.
struct MoveSource {
  int word = 4;     ///< bytes: 1, 2, 4, 8 or 16
  int rank = 1;     ///< axes of the result, 1 at least
  int indices = 1;  ///< index arrays
  friend auto operator<=>(const MoveSource&, const MoveSource&) = default;
};

/// The source that kernels of selections share: Plan (see cuda_plan.hpp), and the location of an
/// element.
std::string plan_source(int rank, int indices);

/// CUDA C with the kernels `read_elements`, `write_elements`, `find_last` and `write_last`, each in
/// two forms, with 32- and 64-bit counters. They take a Plan by value (see cuda_move.cpp).
std::string move_source(const MoveSource& wanted);

/// The kernels of an accumulation.
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
/// complex128 has sums only: a GPU has no atomic functions of 16 bytes.
std::string accumulate_source(const AccumulateSource& wanted);

/// CUDA C with `find_outside`, `wrap_indices` and `clip_indices` for int64 index arrays.
std::string indices_source();

/// CUDA C with `count_tiles`, `scan_tiles` and `write_positions` for masks of `rank` axes. A tile
/// has mask_tile bytes and a block of mask_block threads.
std::string mask_source(int rank);
inline constexpr int mask_block = 256;
inline constexpr int mask_tile = 16 * mask_block;
inline constexpr int scan_block = 1024;

}  // namespace spanwise::ops
