// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "kernel_text.hpp"
#include "reduction.hpp"

/// The text of a reduction.
namespace spanwise::ops::user_kernels {

/// What decides the text besides what the user wrote. `forms` have the step along the last axis
/// that goes, by columns along the last one that stays.
struct ReductionShape {
  bool is_large = false;  ///< more elements or results than 32 bits can count
  int kept_rank = 1, gone_rank = 1, axes = 1;
  int side_by_side = 1;     ///< of a GPU: results whose threads lie beside one another in a block
  bool by_columns = false;  ///< of the CPU: neighbouring results together
  DType accumulator{};      ///< where it is no user's type
  std::size_t count = 0;
  std::array<OperandForm, most_operands> forms{};

  friend bool operator==(const ReductionShape& a, const ReductionShape& b) {
    return a.is_large == b.is_large && a.kept_rank == b.kept_rank && a.gone_rank == b.gone_rank &&
           a.axes == b.axes && a.side_by_side == b.side_by_side && a.by_columns == b.by_columns &&
           a.accumulator == b.accumulator && a.count == b.count &&
           std::equal(a.forms.begin(), a.forms.begin() + static_cast<std::ptrdiff_t>(a.count),
                      b.forms.begin());
  }
};

struct ReductionWords {
  const ReductionSpec& spec;
  const std::string& map_expr;
  std::string accumulator;  ///< in C++
  bool needs_index;
};

/// CUDA C with two kernels. "<name>" takes the operands in order (as parameter_text() has them, but
/// arrays as a whole always as sw_raw); sw_raw of each element used as a whole; the walk over
/// results (inputs' elements, outputs, then the index where it is needed) and the one over what is
/// combined (inputs' elements, the index); the number of results, of elements a result, of elements
/// a part, of results a block; and where parts of results go. Blocks along y are parts: with one of
/// them it writes the outputs. "<name>_fold" takes the same and combines gridDim.y parts, which the
/// number of elements then counts.
std::string reduction_source(const ReductionWords& words, std::span<const Operand> operands,
                             const ReductionShape& shape, bool on_gpu);

inline constexpr int reduction_block = 256;
/// Results that the CPU does together, by columns.
inline constexpr int reduction_columns = 256;
/// The largest accumulator of a user's type, in bytes.
inline constexpr std::int64_t largest_accumulator = 64;

}  // namespace spanwise::ops::user_kernels
