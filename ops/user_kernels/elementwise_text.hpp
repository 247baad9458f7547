// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "elementwise.hpp"
#include "kernel_text.hpp"

/// The source of an elementwise kernel.
namespace spanwise::ops::user_kernels {

/// What determines the source in addition to the user's code.
struct ElementwiseShape {
  bool is_flat = true;    ///< all arrays are dense, in the same order
  bool is_large = false;  ///< more elements than 32 bits can count
  int rank = 1;           ///< of the walk; used if not flat
  int axes = 1;           ///< of arrays that are also used as a whole; used if not flat
  std::size_t count = 0;
  std::array<OperandForm, max_operands> forms{};

  friend bool operator==(const ElementwiseShape& a, const ElementwiseShape& b) {
    return a.is_flat == b.is_flat && a.is_large == b.is_large && a.rank == b.rank &&
           a.axes == b.axes && a.count == b.count &&
           std::equal(a.forms.begin(), a.forms.begin() + static_cast<std::ptrdiff_t>(a.count),
                      b.forms.begin());
  }
};

struct ElementwiseCode {
  const ElementwiseSpec& spec;
  const std::string& operation;
  bool needs_index;
};

/// CUDA C with one kernel of the spec's name. Its parameters: the operands in order (see
/// parameter_text()); if not flat, sw_raw of each array that is also used as a whole, and the walk
/// over the elements and, if needed, the index; the number of elements; on the CPU the number of
/// elements per block, which has one thread there.
std::string elementwise_source(const ElementwiseCode& words, std::span<const Operand> operands,
                               const ElementwiseShape& shape, bool on_gpu);

inline constexpr std::int64_t elementwise_block = 256;
/// Elements that a thread of a flat kernel processes per iteration: one if the operation is long or
/// has loops, since it is unrolled.
std::int64_t elements_per_thread(const std::string& operation);
/// The maximal number of blocks; with more elements threads loop. An index plus the grid's stride
/// then fits in 32 bits.
inline constexpr std::int64_t elementwise_grid = 1 << 22;
/// Elements per block on the CPU: some microseconds of work.
inline constexpr std::int64_t elementwise_chunk = 1 << 14;

}  // namespace spanwise::ops::user_kernels
