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

/// The text of an elementwise kernel.
namespace spanwise::ops::user_kernels {

/// What decides the text besides what the user wrote.
struct ElementwiseShape {
  bool is_flat = true;    ///< every element's array is dense, all in one order
  bool is_large = false;  ///< more steps than 32 bits can count
  int rank = 1;           ///< of the walk, where it is not flat
  int axes = 1;           ///< of elements used as a whole, where it is not flat
  std::size_t count = 0;
  std::array<OperandForm, most_operands> forms{};

  friend bool operator==(const ElementwiseShape& a, const ElementwiseShape& b) {
    return a.is_flat == b.is_flat && a.is_large == b.is_large && a.rank == b.rank &&
           a.axes == b.axes && a.count == b.count &&
           std::equal(a.forms.begin(), a.forms.begin() + static_cast<std::ptrdiff_t>(a.count),
                      b.forms.begin());
  }
};

struct ElementwiseWords {
  const ElementwiseSpec& spec;
  const std::string& operation;
  bool needs_index;
};

/// CUDA C with one kernel of the spec's name. Its parameters: the operands in order (as
/// parameter_text() has them); where not flat, sw_raw of each element used as a whole, and the walk
/// over the elements and, where it is needed, the index; the count of steps; on the CPU how many of
/// them a block does, which has one thread there.
std::string elementwise_source(const ElementwiseWords& words, std::span<const Operand> operands,
                               const ElementwiseShape& shape, bool on_gpu);

inline constexpr std::int64_t elementwise_block = 256;
/// Elements that a thread of a flat kernel has in hand at once: one where the operation is long or
/// loops, since it is written out for each.
std::int64_t elementwise_apiece(const std::string& operation);
/// Beyond it threads go round: 32 bits then still hold a step and the stride to the next.
inline constexpr std::int64_t elementwise_grid = 1 << 22;
/// Steps that a thread of the CPU does in one go: worth some microseconds.
inline constexpr std::int64_t elementwise_chunk = 1 << 14;

}  // namespace spanwise::ops::user_kernels
